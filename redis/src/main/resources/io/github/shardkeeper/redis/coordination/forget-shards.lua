-- Forgets shards of a topic that no member consumes any more: no entry names them afterwards. Repeatable.
--
-- ARGV     1 membership version in which the caller has seen that no member consumes the topic, then per shard: shard
-- result   {'FORGOTTEN', how many of them were known, membership version from now on, a token that is not below any that
--          was given for them}; {'CHANGED'} when the membership is another one by now, or a member owns one of the shards
--          or is to get it: look again, nothing was done; {'UNSURE'} while members may claim what the group does not know, or
--          where Redis knows nothing of the group: nothing was done; or {'BROKEN', what is wrong with the group's keys, a sentence
--          each}
-- keeps    no member is told of a shard without a record; tokens go on rising; whoever reads changes reads all of them
--          again
-- cost     O(shards given * members)

writeBeforeWait(GROUP)

if state == 'BROKEN' or state == 'OTHER' then
  return {'BROKEN', unpack(faults)}
end
if state == 'NONE' or claimsUntil() > 0 then
  -- The time for claims may have begun again because the clock was set back.
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
  -- Also those that once had to give way in a shard are told of it.
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
