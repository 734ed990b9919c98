package io.github.shardkeeper.sls.testsupport;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import io.github.shardkeeper.sls.testsupport.SlsTestServer.Refusal;
import io.github.shardkeeper.sls.testsupport.SlsTestServer.Request;
import io.github.shardkeeper.sls.testsupport.SlsTestServer.Secret;

/**
 * Checks signatures of requests as the vendor's documentation describes them: version 1
 * with HMAC-SHA1, version 4 with HMAC-SHA256.
 */
final class Signatures {

	private static final Pattern VERSION_1 = Pattern.compile("LOG ([^:]+):(.+)");

	private static final Pattern VERSION_4 = Pattern.compile(
			"SLS4-HMAC-SHA256 Credential=([^/]+)/([0-9]{8})/([a-z0-9-]+)/sls/aliyun_v4_request,Signature=([0-9a-f]+)");

	private static final long MAX_DIFFERENCE_SECONDS = 15 * 60;

	private Signatures() {
	}

	static void check(Request request, Map<String, Secret> secrets, long nowSeconds) {
		String authorization = String.valueOf(request.header("authorization"));
		Matcher one = VERSION_1.matcher(authorization);
		if (one.matches()) {
			Secret secret = secret(request, secrets, one.group(1));
			requireTime(dateOf(request.header("date")), nowSeconds);
			requireEqual(one.group(2),
					Base64.getEncoder().encodeToString(hmac("HmacSHA1", utf8(secret.secret()), versionOne(request))));
			return;
		}
		Matcher four = VERSION_4.matcher(authorization);
		if (!four.matches()) {
			throw new Refusal(401, "Unauthorized", "no signature");
		}
		Secret secret = secret(request, secrets, four.group(1));
		String date = String.valueOf(request.header("x-log-date"));
		requireTime(LocalDateTime.parse(date, DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'"))
			.toEpochSecond(ZoneOffset.UTC), nowSeconds);
		String scope = four.group(2) + "/" + four.group(3) + "/sls/aliyun_v4_request";
		byte[] key = utf8("aliyun_v4" + secret.secret());
		for (String part : scope.split("/")) {
			key = hmac("HmacSHA256", key, part);
		}
		String text = "SLS4-HMAC-SHA256\n" + date + "\n" + scope + "\n" + hex("SHA-256", utf8(versionFour(request)));
		requireEqual(four.group(4), HexFormat.of().formatHex(hmac("HmacSHA256", key, text)));
	}

	private static Secret secret(Request request, Map<String, Secret> secrets, String accessKeyId) {
		Secret secret = secrets.get(accessKeyId);
		if (secret == null) {
			throw new Refusal(401, "Unauthorized", "AccessKeyId not found: " + accessKeyId);
		}
		String token = request.header("x-acs-security-token");
		if ((secret.token() != null) ? !secret.token().equals(token) : token != null) {
			throw new Refusal(401, "Unauthorized", "the security token you provided is invalid");
		}
		return secret;
	}

	private static long dateOf(String text) {
		try {
			return ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toEpochSecond();
		}
		catch (DateTimeException ex) {
			throw new Refusal(400, "InvalidDateFormat", "Date " + text + " must follow RFC822");
		}
	}

	private static void requireTime(long seconds, long nowSeconds) {
		if (Math.abs(seconds - nowSeconds) > MAX_DIFFERENCE_SECONDS) {
			throw new Refusal(400, "RequestTimeExpired",
					"Request time " + seconds + " has been expired while server time is " + nowSeconds);
		}
	}

	private static void requireEqual(String signature, String expected) {
		if (!signature.equals(expected)) {
			throw new Refusal(403, "SignatureNotMatch", "signature " + signature + " not matched");
		}
	}

	private static String versionOne(Request request) {
		String md5 = "";
		if (request.body().length > 0) {
			md5 = hex("MD5", request.body()).toUpperCase(Locale.ROOT);
			if (!md5.equals(request.header("content-md5"))) {
				throw new Refusal(400, "InvalidContent", "Content-MD5 does not match");
			}
		}
		String query = request.parameters()
			.entrySet()
			.stream()
			.map((entry) -> entry.getKey() + "=" + entry.getValue())
			.collect(Collectors.joining("&"));
		return String.join("\n", request.method(), md5, orEmpty(request.header("content-type")),
				orEmpty(request.header("date")), headers(request, false).stripTrailing(),
				request.path() + (query.isEmpty() ? "" : "?" + query));
	}

	private static String versionFour(Request request) {
		String hash = hex("SHA-256", request.body());
		if (!hash.equals(request.header("x-log-content-sha256"))) {
			throw new Refusal(400, "InvalidContent", "x-log-content-sha256 does not match");
		}
		String query = request.parameters()
			.entrySet()
			.stream()
			.map((entry) -> entry.getKey() + (entry.getValue().isEmpty() ? "" : "=" + encode(entry.getValue())))
			.collect(Collectors.joining("&"));
		String headers = headers(request, true);
		String names = headers.lines()
			.map((line) -> line.substring(0, line.indexOf(':')))
			.collect(Collectors.joining(";"));
		return String.join("\n", request.method(), request.path(), query, headers, names, hash);
	}

	private static String encode(String text) {
		return URLEncoder.encode(text, StandardCharsets.UTF_8)
			.replace("+", "%20")
			.replace("*", "%2A")
			.replace("%7E", "~");
	}

	private static String headers(Request request, boolean all) {
		Map<String, String> signed = new TreeMap<>();
		request.headers().forEach((name, value) -> {
			if (name.startsWith("x-log-") || name.startsWith("x-acs-")
					|| all && (name.equals("content-type") || name.equals("host"))) {
				signed.put(name, value);
			}
		});
		StringBuilder text = new StringBuilder();
		signed.forEach((name, value) -> text.append(name).append(':').append(value).append('\n'));
		return text.toString();
	}

	private static String orEmpty(String text) {
		return (text != null) ? text : "";
	}

	private static byte[] utf8(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static byte[] hmac(String algorithm, byte[] key, String text) {
		try {
			Mac mac = Mac.getInstance(algorithm);
			mac.init(new SecretKeySpec(key, algorithm));
			return mac.doFinal(utf8(text));
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static String hex(String algorithm, byte[] bytes) {
		try {
			return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(bytes));
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
