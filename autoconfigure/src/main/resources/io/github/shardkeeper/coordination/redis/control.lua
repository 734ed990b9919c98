-- Common beginning of every control-plane script; put before each of them when it is loaded.
--
-- KEYS[1]  the group's base key, `<prefix>:{<group>}`. All other keys are derived from it; they share its
--          hash tag and so its slot:
--            :group              hash  format, leader, epoch, generation, membership, token, history, claims, claimsSince,
--                                loads (counts load reports), problems (what a leader has found wrong), problemsEpoch (its epoch)
--            :members            hash  member -> flag|lease millis|timeout millis|description (flag A: active, L: leaving)
--            :sessions           zset  member -> end of its lease in millis (0: gone, shards still to be freed)
--            :told               hash  member -> generation up to which it was told its changes
--            :loads              hash  member -> its last load report, in a format that only members know
--            :reported           zset  member -> value of the group's `loads` at that report
--            :shards             hash  topic/id -> phase|token|owner|target|since millis|end of the rest in millis or 0
--            :changes            zset  topic/id -> generation of its last change
--            :concerns:<member>  zset  topic/id -> generation of its last change, for the shards of one owner or target,
--                                or of one whose shard was claimed by another, to be told so
--            :member:<member>    channel of one member; every message means "a heartbeat would have news"
-- keeps    the target of a record that is written can take the shard; an owner is known or still to be freed

local base = KEYS[1]
local GROUP, MEMBERS, SESSIONS, TOLD = base .. ':group', base .. ':members', base .. ':sessions', base .. ':told'
local SHARDS, CHANGES = base .. ':shards', base .. ':changes'
local LOADS, REPORTED = base .. ':loads', base .. ':reported'

local time = redis.call('TIME')
local nowMicros = tonumber(time[1]) * 1000000 + tonumber(time[2])
local nowMillis = math.floor(nowMicros / 1000)

-- Numbers up to 2^53 as text; Lua's own conversion would write them as 1.7e+15.
local function text(number)
  return string.format('%.0f', number)
end

local function concernsKey(id)
  return base .. ':concerns:' .. id
end

local function channel(id)
  return base .. ':member:' .. id
end

-- The group's fields are read once, here, and written once, by finish().
local FIELDS = {'format', 'leader', 'epoch', 'generation', 'membership', 'token', 'history', 'claims', 'claimsSince',
  'loads', 'setBacks', 'problems', 'problemsEpoch'}
local group, changedFields = {}, {}
for i, value in ipairs(redis.call('HMGET', GROUP, unpack(FIELDS))) do
  group[FIELDS[i]] = value or nil
end

local function groupNumber(field)
  return tonumber(group[field] or '0')
end

local function setGroup(field, value)
  group[field] = value
  changedFields[field] = true
end

local function count(field)
  local number = groupNumber(field) + 1
  setGroup(field, text(number))
  return number
end

local function leader()
  return group.leader ~= '' and group.leader or nil
end

-- Members to be told at the end of the script, each once, in this order.
local toNotify = {}

local function notify(id)
  if id and id ~= '' and not toNotify[id] then
    toNotify[id] = true
    toNotify[#toNotify + 1] = id
  end
end

-- The last step of every script that changes something.
local function finish()
  local values = {}
  for _, field in ipairs(FIELDS) do
    if changedFields[field] then
      values[#values + 1] = field
      values[#values + 1] = group[field]
    end
  end
  if #values > 0 then
    redis.call('HSET', GROUP, unpack(values))
  end
  for _, id in ipairs(toNotify) do
    redis.call('PUBLISH', channel(id), '!')
  end
end

-- A member's flag, lease, timeout, description; nil for an unknown one. Read once.
local members = {}

local function member(id)
  local known = members[id]
  if known == nil then
    local value = redis.call('HGET', MEMBERS, id)
    known = false
    if value then
      local flag, lease, timeout, description = string.match(value, '^(%a)|(%d+)|(%d+)|(.*)$')
      known = {flag = flag, lease = tonumber(lease), timeout = tonumber(timeout), description = description}
    end
    members[id] = known
  end
  return known or nil
end

local function canTake(id)
  local known = id ~= '' and member(id)
  return known and known.flag == 'A'
end

local function membershipChanged()
  count('membership')
  notify(leader())
end

-- Whoever is told first beats first and leads; the one heard from last is surely awake.
local function notifySuccessor(of)
  local last = redis.call('ZREVRANGE', SESSIONS, 0, 1)
  notify(last[1] ~= of and last[1] or last[2])
end

-- phase, token, owner, target, since, restEnd of a shard; nil for an unknown one.
local function shard(id)
  local value = redis.call('HGET', SHARDS, id)
  if not value then
    return nil
  end
  local phase, token, owner, target, since, restEnd =
    string.match(value, '^(%a+)|(%d+)|([^|]*)|([^|]*)|(%d+)|(%d+)$')
  return {phase = phase, token = token, owner = owner, target = target, since = tonumber(since),
    restEnd = tonumber(restEnd)}
end

-- Tokens never repeat, also over a failover or a flush: max(last + 1, time in microseconds).
local function nextToken()
  local token = text(math.max(groupNumber('token') + 1, nowMicros))
  setGroup('token', token)
  return token
end

local function raiseToken(floor)
  if tonumber(floor) > groupNumber('token') then
    setGroup('token', floor)
  end
end

-- before: what shard() returned. Returns the generation of the change.
local function write(id, before, phase, token, owner, target, restEnd)
  local generation = count('generation')
  redis.call('HSET', SHARDS, id,
    table.concat({phase, token, owner, target, text(nowMillis), text(restEnd or 0)}, '|'))
  redis.call('ZADD', CHANGES, generation, id)
  if before then
    if before.owner ~= '' and before.owner ~= owner and before.owner ~= target then
      redis.call('ZREM', concernsKey(before.owner), id)
    end
    if before.target ~= '' and before.target ~= owner and before.target ~= target then
      redis.call('ZREM', concernsKey(before.target), id)
    end
  end
  if owner ~= '' then
    redis.call('ZADD', concernsKey(owner), generation, id)
  end
  if target ~= '' and target ~= owner then
    redis.call('ZADD', concernsKey(target), generation, id)
  end
  return generation
end

-- From now on, for as long as a lease lasts, whoever holds a shard that is free here may claim it.
local function openClaims(lease)
  setGroup('claims', text(math.max(groupNumber('claims'), nowMillis + lease)))
  setGroup('claimsSince', text(nowMillis))
end

-- Until when no shard is handed out, because who holds it may still claim it; 0 for no such time.
local function claimsUntil()
  local ends, since = groupNumber('claims'), groupNumber('claimsSince')
  if ends == 0 then
    return 0
  end
  if nowMillis < since then
    -- The clock was set back, nobody knows how far: the time begins anew.
    ends = nowMillis + ends - since
    setGroup('claims', text(ends))
    setGroup('claimsSince', text(nowMillis))
  elseif nowMillis >= ends then
    -- Over for good, also if the clock is set back later.
    ends = 0
    setGroup('claims', '0')
  end
  return ends
end

-- A shard that rests, or rests on; its target stays if it still can take it.
local function rest(id, before, target, restEnd)
  write(id, before, 'QUIET', before.token, '', canTake(target) and target or '', restEnd)
end

-- Takes a shard from its owner, who no longer consumes it: it rests, or goes straight to the target of its move, or
-- to nobody.
local function takeFrom(id, before, quietMillis)
  local target = canTake(before.target) and before.target or ''
  local restEnd = math.max(nowMillis + quietMillis, claimsUntil())
  if restEnd > nowMillis then
    rest(id, before, target, restEnd)
    notify(leader())
    notify(target)
  elseif target ~= '' then
    write(id, before, 'OWNED', nextToken(), target, '')
    notify(target)
  else
    write(id, before, 'FREE', before.token, '', '')
    notify(leader())
  end
end

local function forgetLoad(id)
  redis.call('HDEL', LOADS, id)
  redis.call('ZREM', REPORTED, id)
end

-- Ends a member: frees its shards, up to a limit, and keeps its session at 0 while some are left for the next look.
-- Of those that it was to get it only is no longer told. Returns how many it dealt with.
local function remove(id, limit, quietMillis)
  redis.call('HDEL', MEMBERS, id)
  redis.call('HDEL', TOLD, id)
  forgetLoad(id)
  members[id] = false
  local concerned = redis.call('ZRANGE', concernsKey(id), 0, limit - 1)
  for _, name in ipairs(concerned) do
    local before = shard(name)
    if before.owner == id then
      takeFrom(name, before, quietMillis)
    else
      redis.call('ZREM', concernsKey(id), name)
    end
  end
  if redis.call('ZCARD', concernsKey(id)) == 0 then
    redis.call('ZREM', SESSIONS, id)
  else
    redis.call('ZADD', SESSIONS, 0, id)
  end
  return #concerned
end

-- A leader whose own lease has ended decides nothing more, also before somebody else is elected.
local function leads(id, epoch)
  return leader() == id and groupNumber('epoch') == tonumber(epoch)
    and tonumber(redis.call('ZSCORE', SESSIONS, id) or '0') > nowMillis
end

