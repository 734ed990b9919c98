-- Reads what has changed in the group: the leader's picture of it, and the endpoint's.
--
-- ARGV     1 generation seen, 2 membership version seen, 3 most shards in one reply
-- result   {leader, epoch, generation, membership, generation that the shards reach to,
--           members: {} or, if their version differs, {member, value, …},
--           shards: {shard, generation, record, …} in the order of their change}
-- keeps    reading on from the returned generation misses nothing
-- cost     O(shards in the reply), plus O(members) when their list changed

local seen, seenMembership, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])
local state = redis.call('HMGET', GROUP, 'epoch', 'generation', 'membership')
local generation, membership = state[2] or '0', state[3] or '0'
local members = {}
if membership ~= seenMembership then
  members = redis.call('HGETALL', MEMBERS)
end
local changed = redis.call('ZRANGEBYSCORE', CHANGES, '(' .. seen, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local shards = {}
for i = 1, #changed, 2 do
  shards[#shards + 1] = changed[i]
  shards[#shards + 1] = changed[i + 1]
  shards[#shards + 1] = redis.call('HGET', SHARDS, changed[i])
end
local through = generation
if #changed == 2 * limit then
  through = changed[#changed]
end
return {leader() or '', state[1] or '0', generation, membership, through, members, shards}
