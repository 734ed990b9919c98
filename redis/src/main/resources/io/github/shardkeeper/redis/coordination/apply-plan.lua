-- Applies the transitions of the leader's plan, each compared-and-set against the shard's generation.
--
-- ARGV     1 leader, 2 epoch, then per change: ASSIGN|REVOKE|RETARGET|CANCEL, shard, expected generation, member or ''
-- result   {'APPLIED', applied, conflicts} or {'DEPOSED'}
-- keeps    an owner never changes here: only a shard that is free, or whose rest is over, gets one, and none during the
--          claim period
-- cost     O(changes * log shards); the caller sends at most some dozens at once

writeBeforeWait(GROUP)

if not leads(ARGV[1], ARGV[2]) then
  return {'DEPOSED'}
end

-- before: a resting shard, as returned by shard().
local function restEnd(before)
  if nowMillis < before.since then
    -- The clock was set back by an unknown time: the rest starts over.
    return nowMillis + before.restEnd - before.since
  end
  return before.restEnd
end

-- before: as returned by shard(). Returns whether the shard may get an owner now.
local function isAvailable(id, before)
  if claimsUntil() > 0 then
    return false
  end
  if not before or before.phase == 'FREE' then
    return true
  end
  if before.phase == 'QUIET' and nowMillis < before.since then
    rest(id, before, before.target, restEnd(before))
    return false
  end
  return before.phase == 'QUIET' and nowMillis >= before.restEnd
end

-- Returns whether the owner is neither a member nor a former one whose shards are still to be freed.
local function isOwnedByStranger(before)
  return before and before.owner ~= '' and not member(before.owner) and not redis.call('ZSCORE', SESSIONS, before.owner)
end

local function apply(action, id, before, target)
  local phase = before and before.phase
  if isOwnedByStranger(before) then
    recordUnreadable(SHARDS, id, 'names the owner ' .. before.owner .. ', who is no member')
    return false
  end
  if action == 'ASSIGN' and target ~= '' and isAvailable(id, before) then
    write(id, before, 'OWNED', nextToken(), target, '')
    notify(target)
  elseif action == 'REVOKE' and phase == 'OWNED' or action == 'RETARGET' and phase == 'REVOKING' then
    write(id, before, 'REVOKING', before.token, before.owner, target)
    notify(before.owner)
    notify(target)
  elseif action == 'RETARGET' and phase == 'QUIET' then
    rest(id, before, target, restEnd(before))
    notify(target)
  elseif action == 'CANCEL' and phase == 'REVOKING' then
    write(id, before, 'OWNED', before.token, before.owner, '')
    notify(before.owner)
  else
    return false
  end
  return true
end

local applied, conflicts = 0, 0
for i = 3, #ARGV, 4 do
  local action, id, expected, target = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 3]
  local generation = tonumber(redis.call('ZSCORE', CHANGES, id) or '0')
  if generation == expected and (target == '' or canTake(target)) and apply(action, id, shard(id), target) then
    applied = applied + 1
  else
    conflicts = conflicts + 1
  end
end
finish()
return {'APPLIED', applied, conflicts}
