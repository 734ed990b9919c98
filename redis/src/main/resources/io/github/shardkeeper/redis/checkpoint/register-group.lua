-- Registers a group as a consumer of a topic.
--
-- KEYS     1 the topic's groups: set, 2 basis of trimming: hash, see claim-trimming.lua
-- ARGV     1 the group
-- result   1 if it was not known, otherwise 0
-- memory   accepted at `maxmemory`: a name per group and topic
-- cost     O(1)

writeBeforeWait(KEYS[2])

return redis.call('SADD', KEYS[1], ARGV[1])
