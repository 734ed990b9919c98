-- Notifies owners of a request in the data plane: each is told again that it owns its shard, and looks. Repeatable.
--
-- ARGV     per shard: shard
-- result   'OK', also for shards that nobody owns
-- keeps    what is known of the shard, and the generation that plans compare with: nothing that is under way is disturbed
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
