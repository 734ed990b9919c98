-- Returns since when a group consumes a topic. Records the current time if none is stored.
--
-- KEYS     of a topic instead of a shard: 1 hash (since, millis)
-- ARGV     1 time (millis) that the caller was answered before, '' for none: Redis may have lost it and stored a later
--          one
-- result   the time (millis)
-- keeps    it is set once, and only goes back to what it was before
-- memory   accepted at `maxmemory`: a hash per topic
-- cost     O(1)

writeBeforeWait(KEYS[1])

local since = redis.call('HGET', KEYS[1], 'since')
if not since or ARGV[1] ~= '' and tonumber(ARGV[1]) < tonumber(since) then
  since = ARGV[1] ~= '' and ARGV[1] or text(nowMillis)
  redis.call('HSET', KEYS[1], 'since', since)
end
return since
