package io.github.shardkeeper.worker;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ShardAcquisitionTests {

	private final ShardAcquisition.Permits permits = new ShardAcquisition.Permits(2);

	private final List<String> granted = new ArrayList<>();

	private final ShardAcquisition.Permits.Permit a = permit("a");

	private final ShardAcquisition.Permits.Permit b = permit("b");

	private final ShardAcquisition.Permits.Permit c = permit("c");

	private final ShardAcquisition.Permits.Permit d = permit("d");

	@Test
	void releasedPermitIsGrantedToTheNextInOrder() {
		assertThat(this.a.acquire()).isTrue();
		assertThat(this.b.acquire()).isTrue();
		assertThat(this.c.acquire()).isFalse();
		assertThat(this.d.acquire()).isFalse();
		this.b.release();

		assertThat(this.granted).containsExactly("c");
		assertThat(this.c.acquire()).as("is held").isTrue();
		assertThat(this.d.acquire()).isFalse();
	}

	@Test
	void withdrawnRequestIsSkipped() {
		this.a.acquire();
		this.b.acquire();
		this.c.acquire();
		this.d.acquire();
		this.c.release();
		this.a.release();

		assertThat(this.granted).containsExactly("d");
	}

	@Test
	void unusedPermitIsGrantedToTheNext() {
		this.a.acquire();
		this.b.acquire();
		this.c.acquire();
		this.d.acquire();
		this.a.release();
		this.c.release();

		assertThat(this.granted).containsExactly("c", "d");
	}

	@Test
	void releasingTwiceGrantsOnce() {
		this.a.acquire();
		this.b.acquire();
		this.a.release();
		this.a.release();

		assertThat(this.c.acquire()).isTrue();
		assertThat(this.d.acquire()).isFalse();
		assertThat(this.granted).isEmpty();
	}

	private ShardAcquisition.Permits.Permit permit(String name) {
		return this.permits.permit(() -> this.granted.add(name));
	}

}
