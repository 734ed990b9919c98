-- Sets the number of shards of a topic, or raises it.
--
-- KEYS     1 the topic's hash
-- ARGV     1 number of shards, 2 '1' to raise a lower number, '0' to write one only if there is none
-- result   the number now: higher than ARGV[1] if it was higher before, lower if a lower one is not to be raised
-- keeps    the number never becomes lower
-- memory   accepted at `maxmemory`: a hash per topic
-- cost     O(1)

writeBeforeWait(KEYS[1])

local now = redis.call('HGET', KEYS[1], 'shards')
if not now or ARGV[2] == '1' and (tonumber(now) or 0) < tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[1], 'shards', ARGV[1])
  return tonumber(ARGV[1])
end
return tonumber(now) or 0
