-- Applies changes that the leader wants, each compared-and-set against the shard's generation.
--
-- ARGV     1 leader, 2 epoch, then per change: ASSIGN|REVOKE|RETARGET, shard, expected generation, member or ''
-- result   {'APPLIED', applied, conflicts} or {'DEPOSED'}
-- keeps    an owner never changes here: only a free shard gets one
-- cost     O(changes * log shards); the caller sends at most a few hundred at once

if not leads(ARGV[1], ARGV[2]) then
  return {'DEPOSED'}
end
local applied, conflicts = 0, 0
for i = 3, #ARGV, 4 do
  local action, id, expected, target = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 3]
  local generation = tonumber(redis.call('ZSCORE', CHANGES, id) or '0')
  local phase, token, owner = shard(id)
  local fits = generation == expected and (target == '' or canTake(target))
  if fits and action == 'ASSIGN' and (not phase or phase == 'FREE') and target ~= '' then
    write(id, 'OWNED', nextToken(), target, '')
    notify(target)
    applied = applied + 1
  elseif fits and action == 'REVOKE' and phase == 'OWNED' or fits and action == 'RETARGET' and phase == 'REVOKING' then
    write(id, 'REVOKING', token, owner, target)
    notify(owner)
    applied = applied + 1
  else
    conflicts = conflicts + 1
  end
end
sendNotifications()
return {'APPLIED', applied, conflicts}
