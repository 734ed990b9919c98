-- Reads a group's offset in a shard, for a WAIT that follows: replicas that have what it writes have the offset, too.
--
-- KEYS     1 checkpoint hash of the shard
-- result   its offset; '' if there is none
-- memory   gets through at `maxmemory`: leaves nothing behind
-- cost     O(1)

if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then
  return ''
end
writeBeforeWait(KEYS[1])
return redis.call('HGET', KEYS[1], 'offset') or ''
