-- Common beginning of every control-plane script; put before each of them when it is loaded.
--
-- KEYS[1]  the group's base key, `<prefix>:{<group>}`. All other keys are derived from it; they share its
--          hash tag and so its slot:
--            :group            hash  format, epoch, leader, generation, membership, token
--            :members          hash  member -> flag|lease millis|timeout millis|description (flag A: active, L: leaving)
--            :sessions         zset  member -> end of its lease in millis (0: reaped, shards still to be freed)
--            :shards           hash  topic/id -> phase|token|owner|target|since millis
--            :changes          zset  topic/id -> generation of its last change
--            :owned:<member>   zset  topic/id -> generation of its last change, for the shards of one owner
--            :member:<member>  channel of one member; every message means "a heartbeat would have news"

local base = KEYS[1]
local GROUP, MEMBERS, SESSIONS = base .. ':group', base .. ':members', base .. ':sessions'
local SHARDS, CHANGES = base .. ':shards', base .. ':changes'

local time = redis.call('TIME')
local nowMillis = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

-- Numbers up to 2^53 as text; Lua's own conversion would write them as 1.7e+15.
local function text(number)
  return string.format('%.0f', number)
end

local function ownedKey(member)
  return base .. ':owned:' .. member
end

local function groupNumber(field)
  return tonumber(redis.call('HGET', GROUP, field) or '0')
end

local function leader()
  local member = redis.call('HGET', GROUP, 'leader')
  if member and member ~= '' then
    return member
  end
  return nil
end

-- flag, lease, timeout, description of a member, or nil
local function member(id)
  local value = redis.call('HGET', MEMBERS, id)
  if not value then
    return nil
  end
  local flag, lease, timeout, description = string.match(value, '^(%a)|(%d+)|(%d+)|(.*)$')
  return flag, tonumber(lease), tonumber(timeout), description
end

local function canTake(id)
  return id ~= '' and member(id) == 'A'
end

-- phase, token, owner, target, since of a shard, or nil
local function shard(id)
  local value = redis.call('HGET', SHARDS, id)
  if not value then
    return nil
  end
  return string.match(value, '^(%a+)|(%d+)|([^|]*)|([^|]*)|(%d+)$')
end

-- Tokens never repeat, also over a failover or a flush: max(last + 1, time in microseconds).
local function nextToken()
  local token = text(math.max(groupNumber('token') + 1, tonumber(time[1]) * 1000000 + tonumber(time[2])))
  redis.call('HSET', GROUP, 'token', token)
  return token
end

local function write(id, phase, token, owner, target)
  local generation = redis.call('HINCRBY', GROUP, 'generation', 1)
  redis.call('HSET', SHARDS, id, table.concat({phase, token, owner, target, text(nowMillis)}, '|'))
  redis.call('ZADD', CHANGES, generation, id)
  if owner ~= '' then
    redis.call('ZADD', ownedKey(owner), generation, id)
  end
end

-- Members to be told at the end of the script, each once.
local toNotify = {}

local function notify(id)
  if id and id ~= '' then
    toNotify[id] = true
  end
end

local function sendNotifications()
  for id in pairs(toNotify) do
    redis.call('PUBLISH', base .. ':member:' .. id, '!')
  end
end

local function membershipChanged()
  redis.call('HINCRBY', GROUP, 'membership', 1)
  notify(leader())
end

-- Takes a shard from its owner, who no longer consumes it: straight to the target of its move, or to nobody.
local function takeFrom(owner, id, phase, token, target)
  redis.call('ZREM', ownedKey(owner), id)
  if phase == 'REVOKING' and canTake(target) then
    write(id, 'OWNED', nextToken(), target, '')
    notify(target)
  else
    write(id, 'FREE', token, '', '')
    notify(leader())
  end
end

-- A leader whose own lease has ended decides nothing more, also before somebody else is elected.
local function leads(id, epoch)
  return leader() == id and groupNumber('epoch') == tonumber(epoch)
    and tonumber(redis.call('ZSCORE', SESSIONS, id) or '0') > nowMillis
end
