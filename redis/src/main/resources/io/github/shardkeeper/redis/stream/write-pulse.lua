-- Writes a key, so that all clients that follow it hear that, and reads the numbers of shards of topics.
--
-- KEYS     1 the pulse; 2 and more: the topics' hashes. Not on Redis Cluster: they are in different slots
-- ARGV     1 time after which the pulse is removed, millis
-- result   for each topic the number of its shards, '' if there is none or it cannot be read
-- memory   refused at `maxmemory`
-- cost     O(topics)

redis.call('SET', KEYS[1], '', 'PX', ARGV[1])

local counts = {}
for i = 2, #KEYS do
  local count = redis.pcall('HGET', KEYS[i], 'shards')
  counts[i - 1] = type(count) == 'string' and count or ''
end
return counts
