-- Returns since when a group consumes a topic. Records the current time if none is stored.
--
-- KEYS     of a topic instead of a shard: 1 hash (since, in millis)
-- ARGV     1 what the caller was answered before, '' for nothing: Redis may have forgotten it, and said another time since
-- result   that time
-- keeps    it is set once, and only becomes what it was before
-- memory   gets through at `maxmemory`: a hash per topic
-- cost     O(1)

writeBeforeWait(KEYS[1])

local since = redis.call('HGET', KEYS[1], 'since')
if not since or ARGV[1] ~= '' and tonumber(ARGV[1]) < tonumber(since) then
  since = ARGV[1] ~= '' and ARGV[1] or text(nowMillis)
  redis.call('HSET', KEYS[1], 'since', since)
end
return since
