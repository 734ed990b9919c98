-- Reads a group's offset in a shard, or the copy of one that is kept elsewhere, so that a WAIT can follow: replicas that
-- have its write have the offset, too.
--
-- KEYS     1 checkpoint hash of the shard
-- result   the offset; '' if there is none
-- memory   accepted at `maxmemory`: leaves nothing behind
-- cost     O(1)

if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then
  return ''
end
writeBeforeWait(KEYS[1])
local copy = redis.call('HGET', KEYS[1], 'copy')
local offset = redis.call('HGET', KEYS[1], 'offset')
return copy or offset or ''
