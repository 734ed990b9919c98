package io.github.shardkeeper.redis;

import io.lettuce.core.ScriptOutputType;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class LuaScriptTests {

	@Test
	void filesAreReadAtTheFirstUse() {
		LuaScript script = LuaScript.load(LuaScript.class, ScriptOutputType.VALUE);
		assertThat(script.name()).isEqualTo("prelude.lua");
		assertThat(script.output()).isEqualTo(ScriptOutputType.VALUE);
		assertThat(script.isRead()).isFalse();

		assertThat(script.digest()).hasSize(40);
		assertThat(script.isRead()).isTrue();
	}

	@Test
	void textBeginsWithThePreludeAndHasTheFilesInOrder() {
		String prelude = LuaScript.load(LuaScript.class, ScriptOutputType.VALUE).text();
		String text = LuaScript.load(LuaScript.class, ScriptOutputType.VALUE, "prelude.lua").text();
		assertThat(text).isEqualTo(prelude + prelude + "\n");
	}

	@Test
	void missingFileIsNamedAtTheFirstUse() {
		LuaScript script = LuaScript.load(LuaScript.class, ScriptOutputType.VALUE, "missing.lua");
		assertThatIllegalStateException().isThrownBy(script::text)
			.withMessageContaining("missing.lua")
			.withMessageContaining(LuaScript.class.getName());
	}

	/** What Redis computes of the same text. */
	@Test
	void digestIsTheSha1OfTheText() {
		LuaScript script = new LuaScript("test.lua", "return 1", ScriptOutputType.INTEGER);
		assertThat(script.digest()).isEqualTo("e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
	}

}
