-- Since when a group consumes a topic: now, if nobody has asked before.
--
-- KEYS     of a topic instead of a shard: 1 millis of Redis' time, as text
-- result   that time
-- keeps    it is set once and never changes
-- cost     O(1)

local since = redis.call('GET', KEYS[1]) or text(nowMillis)
-- Also where it stands already: a WAIT that follows counts only what was written on its own connection.
redis.call('SET', KEYS[1], since)
return since
