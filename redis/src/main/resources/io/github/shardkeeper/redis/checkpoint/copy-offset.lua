-- Stores a copy of an offset whose checkpoint is in another store, for trimming.
--
-- KEYS     1 checkpoint hash of the shard
-- ARGV     1 the offset
-- result   1
-- memory   accepted at `maxmemory`, because trimming waits for it: a field per shard
-- cost     O(1)

writeBeforeWait(KEYS[1])

redis.call('HSET', KEYS[1], 'copy', ARGV[1])
return 1
