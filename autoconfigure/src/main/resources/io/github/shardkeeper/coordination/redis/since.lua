-- Since when a group consumes a topic: now, if nobody has asked before.
--
-- KEYS     of a topic instead of a shard: 1 hash (since, in millis)
-- result   that time
-- keeps    it is set once and never changes
-- memory   gets through at `maxmemory`: a hash per topic
-- cost     O(1)

writeBeforeWait(KEYS[1])

redis.call('HSETNX', KEYS[1], 'since', text(nowMillis))
return redis.call('HGET', KEYS[1], 'since')
