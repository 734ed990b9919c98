-- Since when a group consumes a topic: now, if nobody has asked before.
--
-- KEYS     of a topic instead of a shard: 1 hash (since, in millis)
-- result   that time
-- keeps    it is set once and never changes
-- cost     O(1)

local since = redis.call('HGET', KEYS[1], 'since') or text(nowMillis)
-- Also where it stands already: a WAIT that follows counts only what was written on its own connection.
redis.call('HSET', KEYS[1], 'since', since)
return since
