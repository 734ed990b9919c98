package io.github.shardkeeper.autoconfigure;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;

import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Topic;

/**
 * The names of the properties that there are, by {@link ShardkeeperProperties}. Has no
 * state.
 */
final class PropertyNames {

	static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("shardkeeper");

	private PropertyNames() {
	}

	/**
	 * What to write instead of a name that there is not.
	 * @param unknown the name
	 * @return a sentence
	 */
	static String insteadOf(ConfigurationPropertyName unknown) {
		Type type = ShardkeeperProperties.class;
		for (int i = 1; i < unknown.getNumberOfElements(); i++) {
			if (type instanceof ParameterizedType map && map.getRawType() == Map.class) {
				type = map.getActualTypeArguments()[1];
				continue;
			}
			RecordComponent[] components = (type instanceof Class<?> owner && owner.isRecord())
					? owner.getRecordComponents() : new RecordComponent[0];
			String element = unknown.getElement(i, Form.UNIFORM);
			RecordComponent found = Arrays.stream(components)
				.filter((component) -> component.getName().equalsIgnoreCase(element))
				.findFirst()
				.orElse(null);
			if (found == null) {
				return insteadOf(unknown, i, type,
						Arrays.stream(components)
							.map((component) -> DataObjectPropertyName.toDashedForm(component.getName()))
							.toList());
			}
			type = found.getGenericType();
		}
		return "Remove '" + unknown + "', or write what belongs below it.";
	}

	private static String insteadOf(ConfigurationPropertyName unknown, int place, Type owner, List<String> names) {
		String before = unknown.chop(place).toString();
		if (names.isEmpty()) {
			return "Write '" + before + "', or remove it.";
		}
		boolean goesOn = place < unknown.getNumberOfElements() - 1;
		if (owner == Topic.class && goesOn) {
			return "If the topic's name has a dot, write it in brackets: '%s[%s.%s]'; what a topic has is %s."
				.formatted(unknown.chop(place - 1), unknown.getElement(place - 1, Form.ORIGINAL),
						unknown.getElement(place, Form.ORIGINAL), names);
		}
		String wrong = unknown.getElement(place, Form.DASHED);
		String nearest = names.stream().min(Comparator.comparingInt((name) -> distance(wrong, name))).orElseThrow();
		return (distance(wrong, nearest) <= nearest.length() / 2)
				? "Write '%s.%s', or remove it.".formatted(before, nearest)
				: "Remove it; below '%s' there are %s.".formatted(before, names);
	}

	/** How many characters are to be put in, taken out or replaced. */
	private static int distance(String one, String other) {
		int[] above = new int[other.length() + 1];
		Arrays.setAll(above, (i) -> i);
		for (int i = 1; i <= one.length(); i++) {
			int[] row = new int[other.length() + 1];
			row[0] = i;
			for (int j = 1; j <= other.length(); j++) {
				int replaced = above[j - 1] + ((one.charAt(i - 1) != other.charAt(j - 1)) ? 1 : 0);
				row[j] = Math.min(replaced, 1 + Math.min(above[j], row[j - 1]));
			}
			above = row;
		}
		return above[other.length()];
	}

}
