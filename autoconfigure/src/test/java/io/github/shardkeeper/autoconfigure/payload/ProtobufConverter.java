package io.github.shardkeeper.autoconfigure.payload;

import java.lang.reflect.Type;

import com.google.protobuf.MessageLite;

import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.source.PayloadConverter;

/** The converter that the guide shows. */
final class ProtobufConverter implements PayloadConverter {

	@Override
	public byte[] write(Object payload) {
		return ((MessageLite) payload).toByteArray();
	}

	@Override
	public Object read(byte[] payload, Type type) {
		try {
			return ((Class<?>) type).getMethod("parseFrom", byte[].class).invoke(null, payload);
		}
		catch (ReflectiveOperationException ex) {
			throw new PayloadConversionException("It is no " + type.getTypeName(), ex);
		}
	}

}
