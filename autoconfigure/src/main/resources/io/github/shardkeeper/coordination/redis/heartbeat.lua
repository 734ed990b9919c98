-- Renews a session, elects a leader when there is none or its lease ended, tells the member its own news.
--
-- ARGV     1 member, 2 generation seen, 3 candidate ('1' or '0'), 4 most changes in one reply
-- result   {'EXPIRED'} or {'ALIVE', now, leader, epoch, end of the leader's lease, earliest end of a lease,
--          generation, membership, generation that the changes reach to, then per change: shard, generation, record}
--          (times in millis; leader '' and 0 when nobody leads)
-- keeps    the epoch grows with every leadership
-- cost     O(log members) when nothing changed, else O(changes)

local id, seen, candidate, limit = ARGV[1], ARGV[2], ARGV[3] == '1', tonumber(ARGV[4])
local flag, lease = member(id)
if not flag then
  return {'EXPIRED'}
end
-- Before the own lease is renewed: a leader that was silent for a lease begins a new epoch, and what it decided
-- before its silence is refused.
local leading = leader()
local leaseEnd = leading and tonumber(redis.call('ZSCORE', SESSIONS, leading) or '0') or 0
redis.call('ZADD', SESSIONS, text(nowMillis + lease), id)
if leading == id and not candidate then
  redis.call('HSET', GROUP, 'leader', '')
  leading, leaseEnd = nil, 0
elseif leaseEnd <= nowMillis then
  leading, leaseEnd = nil, 0
  if candidate then
    leading, leaseEnd = id, nowMillis + lease
    redis.call('HSET', GROUP, 'leader', id)
    redis.call('HINCRBY', GROUP, 'epoch', 1)
  end
elseif leading == id then
  leaseEnd = nowMillis + lease
end

local earliest = redis.call('ZRANGE', SESSIONS, 0, 0, 'WITHSCORES')
local state = redis.call('HMGET', GROUP, 'epoch', 'generation', 'membership')
local reply = {'ALIVE', text(nowMillis), leading or '', state[1] or '0', text(leaseEnd), earliest[2],
  state[2] or '0', state[3] or '0', state[2] or '0'}

if tonumber(seen) > tonumber(reply[7]) then
  -- Redis has lost writes: what the member has seen means nothing any more.
  seen = '0'
end
local changes = redis.call('ZRANGEBYSCORE', ownedKey(id), '(' .. seen, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
for i = 1, #changes, 2 do
  reply[#reply + 1] = changes[i]
  reply[#reply + 1] = changes[i + 1]
  reply[#reply + 1] = redis.call('HGET', SHARDS, changes[i])
end
if #changes == 2 * limit then
  reply[9] = changes[#changes]
end
return reply
