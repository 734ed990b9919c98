-- Removes the shards of a topic that no member consumes any more. Repeatable.
--
-- ARGV     1 membership version in which the caller saw no member with the topic, then per shard: shard
-- result   {'FORGOTTEN', number of shards that were known, new membership version, a token that is at least as high as
--          any that was given for them};
--          {'CHANGED'} if the membership version differs, or a member owns a shard or is its target: read again,
--          nothing was done;
--          {'UNSURE'} during the claim period, or if Redis knows nothing of the group: nothing was done;
--          or {'BROKEN', what is wrong with the group's keys, a sentence each}
-- keeps    no member is told of a shard without a record; tokens keep rising; readers of changes read all of them again
-- cost     O(shards given * members)

writeBeforeWait(GROUP)

if state == 'BROKEN' or state == 'OTHER' then
  return {'BROKEN', unpack(faults)}
end
if state == 'NONE' or claimsUntil() > 0 then
  -- claimsUntil() may have restarted the claim period after the clock was set back.
  finish()
  return {'UNSURE'}
end
if (group.membership or '0') ~= ARGV[1] then
  return {'CHANGED'}
end
local forgotten = {}
for i = 2, #ARGV do
  local before = shard(ARGV[i])
  if before and (member(before.owner) or member(before.target)) then
    return {'CHANGED'}
  end
  if before then
    forgotten[#forgotten + 1] = {name = ARGV[i], owner = before.owner, target = before.target}
  end
end
if changedFields.unreadable then
  finish()
  return {'CHANGED'}
end
if #forgotten > 0 then
  -- Members that were displaced have entries, too.
  local told = redis.call('ZRANGE', SESSIONS, 0, -1)
  for _, past in ipairs(forgotten) do
    for _, id in ipairs(told) do
      forgetConcern(id, past.name)
    end
    forgetConcern(past.owner, past.name)
    forgetConcern(past.target, past.name)
    redis.call('HDEL', SHARDS, past.name)
    redis.call('ZREM', CHANGES, past.name)
    count('generation')
    membershipChanged()
  end
  setGroup('forgotten', group.membership)
  resized = true
end
finish()
return {'FORGOTTEN', #forgotten, group.membership or '0', group.token or text(nowMicros)}
