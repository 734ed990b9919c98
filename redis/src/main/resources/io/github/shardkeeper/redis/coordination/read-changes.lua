-- Reads the changes of the group, for the leader and the endpoint.
--
-- ARGV     1 generation seen, 2 membership version seen, 3 most shards in one reply
-- result   {'BROKEN', what is wrong with the group's keys, a sentence each}, or
--          {'READ', leader, epoch, generation, membership, '1' if shards were forgotten since: the reply begins at
--          generation 0, and replaces what was seen ('0' otherwise), generation that the shards reach to,
--           members: {} or, if their version differs, {member, value, …, '#', …},
--           shards: {shard, generation, record, …} in the order of their changes,
--           silent members: {member, end of its lease in ms, …} of those whose session is not over,
--           instances that are away: {} or, if the version of the members differs, {instance, since in ms, until in ms,
--           description, …}}
-- keeps    a reader that continues from the returned generation misses nothing
-- cost     O(log members), plus the shards and the silent members in the reply, plus O(members + instances that are away)
--          when their list changed

local seen, seenMembership, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])
if state == 'BROKEN' or state == 'OTHER' then
  return {'BROKEN', unpack(faults)}
end
local generation, membership = group.generation or '0', group.membership or '0'
local list, away = {}, {}
local whole = group.forgotten and tonumber(seenMembership) < groupNumber('forgotten')
if whole then
  seen = '0'
end
if membership ~= seenMembership then
  list = redis.call('HGETALL', MEMBERS)
  for i = 2, #list, 2 do
    list[i] = bounded(list[i], LONGEST_DESCRIPTION)
  end
  for _, one in ipairs(awayInstances()) do
    if one.ends > nowMillis then
      for _, value in ipairs({string.sub(one.field, #AWAY_FIELD + 1), one.since, text(one.ends), one.description}) do
        away[#away + 1] = value
      end
    end
  end
end
-- One more than needed, because NO_ENTRY may be among them.
local changed = redis.call('ZRANGEBYSCORE', CHANGES, '(' .. seen, '+inf', 'WITHSCORES', 'LIMIT', 0, limit + 1)
local names, shards = {}, {}
local generations = {}
for i = 1, #changed, 2 do
  if changed[i] ~= NO_ENTRY and #names < limit then
    names[#names + 1], generations[#names + 1] = changed[i], changed[i + 1]
  end
end
if #names > 0 then
  local records = redis.call('HMGET', SHARDS, unpack(names))
  for i, name in ipairs(names) do
    shards[#shards + 1] = name
    shards[#shards + 1] = generations[i]
    shards[#shards + 1] = records[i] and bounded(records[i], LONGEST_RECORD)
  end
end
local through = generation
if #names == limit then
  through = generations[limit]
end
-- A member that has ended has 0 until its last shards are freed.
local silent = redis.call('ZRANGEBYSCORE', SESSIONS, '1', text(nowMillis), 'WITHSCORES')
return {'READ', leader() or '', group.epoch or '0', generation, membership, whole and '1' or '0', through, list, shards,
  silent, away}
