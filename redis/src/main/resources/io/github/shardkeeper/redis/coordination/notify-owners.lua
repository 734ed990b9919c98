-- Notifies owners of a request in the data plane: each is told again that it owns its shard, and reads it. Repeatable.
--
-- ARGV     per shard: shard
-- result   'OK', also for shards without an owner
-- keeps    the shard's record and its generation, so that no plan conflicts
-- cost     O(shards given * log shards); the caller sends at most some dozens at once

writeBeforeWait(GROUP)

if state ~= 'WHOLE' then
  return 'OK'
end
for _, name in ipairs(ARGV) do
  local now = shard(name)
  if now and now.phase == 'OWNED' then
    putConcern(now.owner, count('generation'), name)
    notify(now.owner)
  end
end
finish()
return 'OK'
