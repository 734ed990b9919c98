-- Common beginning of every control-plane script; ControlScripts puts it before each of them.
--
-- KEYS     the group's keys, always all of them. They share the hash tag `{<group>}` and so a slot:
--          1 <prefix>:{<group>}:group  hash  format, leader, epoch, generation, membership, token, history, claims,
--                         claimsSince, loads (number of load reports), longestLease, setBacks, sizes, unreadable,
--                         problems (found by a leader), problemsEpoch (its epoch), forgotten (membership version in
--                         which shards were last forgotten), directives (version of what directives.lua keeps),
--                         away (number of the following fields), away:<instance> (an instance that has left for a
--                         restart: since millis|until millis|description)
--          2 :members     hash  member -> flag|lease millis|timeout millis|description (flag A: active, L: leaving,
--                         R: leaving for a restart)
--          3 :sessions    zset  member -> end of its lease in millis (0: gone, shards still to be freed)
--          4 :told        hash  member -> generation up to which it was told its changes
--          5 :loads       hash  member -> its last load report, in a format that only members know
--          6 :reported    zset  member -> value of the group's `loads` at that report
--          7 :shards      hash  topic/id -> phase|token|owner|target|since millis|end of the rest in millis or 0
--                         (target <instance>~AWAY: kept for the next session of that instance)
--          8 :changes     zset  topic/id -> generation of its last change
--          9 :concerns    zset  <member>|<generation, 16 digits>|<topic/id>, all with the score 0 and so in this order:
--                         the changes that a member is told, of the shards that it owns, is the target of, or was
--                         displaced in
--          10 :concernsAt hash  <member>|<topic/id> -> that generation
--          Each of the keys 2 to 10 holds an entry `#` as long as the group exists. In 2, 3, 7, 8 and 9 it holds the
--          membership version or generation of the key.
--          <prefix>:{<group>}:member:<member> is the channel of one member; every message means "a heartbeat would have
--          news".
-- keeps    the target of a record that is written can take the shard, or is an instance's id without a session, of a
--          quiet shard that is kept for it, which no member is told; an owner is a member, or a former one whose
--          shards are still to be freed
--
-- The keys belong together. While Redis Cluster moves the slot key by key, no node has all of them; because all are
-- declared and exist, both nodes refuse every script (ASK, TRYAGAIN) before it begins. If a key is missing or does not
-- agree with the others (it was removed, evicted, or restored from an older copy), or an entry cannot be read, only
-- join-group.lua writes anything: every member is answered that its session has expired, and the first one to rejoin
-- rebuilds the group with what members hold.

local FORMAT, NO_ENTRY = '1', '#'

local GROUP, MEMBERS, SESSIONS, TOLD, LOADS, REPORTED, SHARDS, CHANGES, CONCERNS, CONCERNS_AT =
  unpack(KEYS)
local base = string.sub(GROUP, 1, -string.len(':group') - 1)

local time = redis.call('TIME')
local nowMicros = tonumber(time[1]) * 1000000 + tonumber(time[2])
local nowMillis = math.floor(nowMicros / 1000)

-- Numbers up to 2^53 as text; Lua's own conversion would write them as 1.7e+15.
local function text(number)
  return string.format('%.0f', number)
end

-- Returns the entry of a member and a shard in CONCERNS. No name contains a `|`.
local function concern(id, generation, name)
  return id .. '|' .. string.format('%016.0f', generation) .. '|' .. name
end

-- Returns the limits of a member's entries in CONCERNS after a generation. `}` sorts after `|`.
local function concernsAfter(id, generation)
  return '(' .. id .. '|' .. string.format('%016.0f', generation) .. '}', '(' .. id .. '}'
end

local function channel(id)
  return base .. ':member:' .. id
end

-- The group's fields are read once, here, and written once, by finish().
local NUMBERS = {'epoch', 'generation', 'membership', 'token', 'history', 'claims', 'claimsSince', 'loads', 'setBacks',
  'problemsEpoch', 'longestLease', 'forgotten', 'directives', 'away'}
local FIELDS = {'format', 'leader', 'sizes', 'unreadable', 'problems', unpack(NUMBERS)}
local group, changedFields = {}, {}
for i, value in ipairs(redis.call('HMGET', GROUP, unpack(FIELDS))) do
  group[FIELDS[i]] = value or nil
end

-- Bytes. What is longer is from others, and is not returned to anybody.
local LONGEST_FIELD, LONGEST_RECORD, LONGEST_DESCRIPTION, LONGEST_LOAD = 16384, 1000, 4000000, 65536

-- Longer numbers are not exact in Lua.
local LONGEST_NUMBER = 16

local function isNumber(value)
  return string.match(value, '^%d+$') and #value <= LONGEST_NUMBER
end

local function groupNumber(field)
  return tonumber(group[field] or '0')
end

-- Returns the numbers of the keys' entries, which show entries that others have removed or added.
local function sizes()
  local membersSize = redis.call('HLEN', MEMBERS)
  local sessionsSize = redis.call('ZCARD', SESSIONS)
  local shardsSize = redis.call('HLEN', SHARDS)
  local changesSize = redis.call('ZCARD', CHANGES)
  local concernsSize = redis.call('ZCARD', CONCERNS)
  local concernsAtSize = redis.call('HLEN', CONCERNS_AT)
  return table.concat({membersSize, sessionsSize, shardsSize, changesSize, concernsSize, concernsAtSize}, '|')
end

-- Returns what is wrong with the group's keys, a sentence each; none for a whole group. O(1)
local function findFaults()
  local faults = {}
  for _, key in ipairs(KEYS) do
    if redis.call('EXISTS', key) == 0 then
      faults[#faults + 1] = key .. ' is missing'
    end
  end
  for _, field in ipairs(NUMBERS) do
    if group[field] and not isNumber(group[field]) then
      faults[#faults + 1] = GROUP .. ' has no number in the field ' .. field
    end
  end
  if group.format and group.format ~= FORMAT then
    faults[#faults + 1] = GROUP .. ' has no number in the field format'
  end
  for _, field in ipairs({'leader', 'sizes', 'problems'}) do
    if group[field] and #group[field] > LONGEST_FIELD then
      faults[#faults + 1] = GROUP .. ' has ' .. #group[field] .. ' bytes in the field ' .. field
    end
  end
  if group.unreadable then
    faults[#faults + 1] = beginning(group.unreadable)
  end
  if #faults > 0 then
    return faults
  end
  local generation = groupNumber('generation')
  if tonumber(redis.call('HGET', SHARDS, NO_ENTRY)) ~= generation then
    faults[#faults + 1] = SHARDS .. ' is of another time than ' .. GROUP
  end
  if tonumber(redis.call('ZSCORE', CHANGES, NO_ENTRY) or '-1') ~= generation then
    faults[#faults + 1] = CHANGES .. ' is of another time than ' .. GROUP
  end
  if tonumber(redis.call('ZSCORE', CONCERNS, NO_ENTRY) or '1') ~= -generation then
    faults[#faults + 1] = CONCERNS .. ' is of another time than ' .. GROUP
  end
  if tonumber(redis.call('HGET', MEMBERS, NO_ENTRY)) ~= groupNumber('membership') then
    faults[#faults + 1] = MEMBERS .. ' is of another time than ' .. GROUP
  end
  if tonumber(redis.call('ZSCORE', SESSIONS, NO_ENTRY) or '1') ~= -groupNumber('membership') - 1 then
    faults[#faults + 1] = SESSIONS .. ' is of another time than ' .. GROUP
  end
  if sizes() ~= group.sizes then
    faults[#faults + 1] = 'the keys ' .. base ..
      ':* have lost or gained entries (members|sessions|shards|changes|concerns|concernsAt: '
      .. sizes() .. ' instead of ' .. tostring(group.sizes) .. ')'
  end
  return faults
end

-- NONE: there are no keys. WHOLE: the keys agree. BROKEN: they do not. OTHER: another format.
local state, faults = 'NONE', {}
if group.format and group.format ~= FORMAT and isNumber(group.format) then
  state = 'OTHER'
  faults[1] = 'the group is kept in format ' .. group.format .. ' instead of ' .. FORMAT
elseif redis.call('EXISTS', unpack(KEYS)) > 0 then
  faults = findFaults()
  state = #faults == 0 and 'WHOLE' or 'BROKEN'
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

-- Members to notify at the end of the script, each once, in this order.
local toNotify = {}

local function notify(id)
  if id and id ~= '' and not toNotify[id] then
    toNotify[id] = true
    toNotify[#toNotify + 1] = id
  end
end

-- Whether entries were added or removed.
local resized = false

-- Records an entry that only others can have written. From the next script on the group is broken.
local function recordUnreadable(key, field, why)
  setGroup('unreadable', key .. ' has an entry ' .. beginning(field) .. ' that ' .. (why or 'cannot be read'))
end

-- The last step of every script that changes something.
local function finish()
  local generation, membership = groupNumber('generation'), groupNumber('membership')
  if changedFields.generation then
    redis.call('HSET', SHARDS, NO_ENTRY, text(generation))
    redis.call('ZADD', CHANGES, text(generation), NO_ENTRY)
    redis.call('ZADD', CONCERNS, '-' .. text(generation), NO_ENTRY)
  end
  if changedFields.membership then
    redis.call('HSET', MEMBERS, NO_ENTRY, text(membership))
    redis.call('ZADD', SESSIONS, '-' .. text(membership + 1), NO_ENTRY)
  end
  if resized then
    setGroup('sizes', sizes())
  end
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

-- Returns a member's flag, lease, timeout, description; nil for an unknown member. Reads it once.
local members = {}

local function member(id)
  local known = members[id]
  if known == nil then
    local value = redis.call('HGET', MEMBERS, id)
    known = false
    if value and id ~= NO_ENTRY then
      local flag, lease, timeout, description = string.match(value, '^(%a)|(%d+)|(%d+)|(.*)$')
      if flag and isNumber(lease) and isNumber(timeout) then
        known = {flag = flag, lease = tonumber(lease), timeout = tonumber(timeout), description = description}
      else
        recordUnreadable(MEMBERS, id)
      end
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

local function instanceOf(id)
  return string.match(id, '^[^~]*')
end

-- Returns the id that stands for an instance without a session. Sessions have small letters and digits.
local function awayId(id)
  return instanceOf(id) .. '~AWAY'
end

local AWAY_FIELD = 'away:'

-- Returns the instances that have left for a restart: {{field, since, until, description}, ...}. O(fields of the group)
local function awayInstances()
  local found = {}
  if groupNumber('away') == 0 then
    return found
  end
  for _, field in ipairs(redis.call('HKEYS', GROUP)) do
    if string.sub(field, 1, #AWAY_FIELD) == AWAY_FIELD then
      local value = redis.call('HGET', GROUP, field)
      local since, ends, description = string.match(value, '^(%d+)|(%d+)|(.*)$')
      if not since or not isNumber(since) or not isNumber(ends) or #description > LONGEST_DESCRIPTION then
        since, ends, description = '0', '0', ''
      end
      found[#found + 1] = {field = field, since = since, ends = tonumber(ends), description = description}
    end
  end
  return found
end

-- Forgets the instances that have stayed away too long, and one that has returned, or leaves again.
local function forgetAway(id)
  local left = 0
  for _, away in ipairs(awayInstances()) do
    if away.ends <= nowMillis or away.field == AWAY_FIELD .. instanceOf(id) then
      redis.call('HDEL', GROUP, away.field)
    else
      left = left + 1
    end
  end
  if left ~= groupNumber('away') then
    setGroup('away', text(left))
  end
end

-- Notes that a member's instance is away.
local function goAway(id, awayMillis)
  setGroup('away', text(groupNumber('away') + 1))
  redis.call('HSET', GROUP, AWAY_FIELD .. instanceOf(id),
    table.concat({text(nowMillis), text(nowMillis + awayMillis), member(id).description}, '|'))
end

-- Notifies the member that was heard last, which is the likeliest to be awake. This elects nobody: heartbeat.lua elects
-- the member that asks first.
local function notifySuccessor(of)
  local last = redis.call('ZREVRANGEBYSCORE', SESSIONS, '+inf', '0', 'LIMIT', 0, 2)
  notify(last[1] ~= of and last[1] or last[2])
end

-- Returns phase, token, owner, target, since, restEnd of a shard; nil for an unknown one.
local function shard(id)
  local value = redis.call('HGET', SHARDS, id)
  if not value then
    return nil
  end
  local phase, token, owner, target, since, restEnd =
    string.match(value, '^(%a+)|(%d+)|([^|]*)|([^|]*)|(%d+)|(%d+)$')
  if not phase or not isNumber(token) or not isNumber(since) or not isNumber(restEnd) then
    recordUnreadable(SHARDS, id)
    return nil
  end
  return {phase = phase, token = token, owner = owner, target = target, since = tonumber(since),
    restEnd = tonumber(restEnd)}
end

-- Tokens never repeat, also after a failover or a flush: max(last + 1, time in microseconds).
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

-- Removes a shard from the changes that a member is told.
local function forgetConcern(member, name)
  local key = member .. '|' .. name
  local generation = redis.call('HGET', CONCERNS_AT, key)
  if generation then
    if isNumber(generation) then
      redis.call('ZREM', CONCERNS, concern(member, generation, name))
    else
      recordUnreadable(CONCERNS_AT, key)
    end
    redis.call('HDEL', CONCERNS_AT, key)
    resized = true
  end
end

-- Adds a shard to the changes that a member is told, with a generation.
local function putConcern(member, generation, name)
  forgetConcern(member, name)
  redis.call('ZADD', CONCERNS, 0, concern(member, generation, name))
  redis.call('HSET', CONCERNS_AT, member .. '|' .. name, text(generation))
  resized = true
end

-- before: as returned by shard(). Returns the generation of the change.
local function write(id, before, phase, token, owner, target, restEnd)
  local generation = count('generation')
  resized = true
  redis.call('HSET', SHARDS, id,
    table.concat({phase, token, owner, target, text(nowMillis), text(restEnd or 0)}, '|'))
  redis.call('ZADD', CHANGES, text(generation), id)
  for _, past in ipairs(before and {before.owner, before.target} or {}) do
    if past ~= '' and past ~= owner and past ~= target then
      forgetConcern(past, id)
    end
  end
  if owner ~= '' then
    putConcern(owner, generation, id)
  end
  if target ~= '' and target ~= owner and target ~= awayId(target) then
    putConcern(target, generation, id)
  end
  return generation
end

-- Remembers the longest lease under which a shard may be held.
local function rememberLease(lease)
  if lease > groupNumber('longestLease') then
    setGroup('longestLease', text(lease))
  end
end

-- Opens the claim period, in which members may claim what they hold and is free here. It lasts at least for the longest
-- lease, and until a leader that has watched all of that time ends it: by Redis' clock alone a step could shorten it.
local function openClaims(lease)
  rememberLease(lease)
  setGroup('claims', text(math.max(groupNumber('claims'), nowMillis + groupNumber('longestLease'))))
  setGroup('claimsSince', text(nowMillis))
end

-- Returns the earliest end of the claim period; 0 if there is none.
local function claimsEnd()
  local ends, since = groupNumber('claims'), groupNumber('claimsSince')
  if ends ~= 0 and nowMillis < since then
    -- The clock was set back by an unknown time: the period starts over.
    ends = nowMillis + ends - since
    setGroup('claims', text(ends))
    setGroup('claimsSince', text(nowMillis))
  end
  return ends
end

-- Returns the time until which, at least, no shard is assigned, because its holder may still claim it; 0 for none.
local function claimsUntil()
  local ends = claimsEnd()
  return ends == 0 and 0 or math.max(ends, nowMillis + 1)
end

-- Lets a shard rest; its target stays if it can still take it.
local function rest(id, before, target, restEnd)
  write(id, before, 'QUIET', before.token, '', canTake(target) and target or '', restEnd)
end

-- Takes a shard from its owner, which no longer consumes it: the shard rests, or goes to the target of its move, or
-- becomes free.
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

-- Keeps a shard that its owner has released for the next session of its instance.
local function keep(id, before, quietMillis)
  write(id, before, 'QUIET', before.token, '', awayId(before.owner), math.max(nowMillis + quietMillis, claimsUntil()))
  notify(leader())
end

local function forgetLoad(id)
  redis.call('HDEL', LOADS, id)
  redis.call('ZREM', REPORTED, id)
end

-- Ends a member: frees its shards, up to a limit, and keeps its session at 0 while some are left for the next reap.
-- Returns the number of entries of CONCERNS that it has processed.
local function remove(id, limit, quietMillis)
  redis.call('HDEL', MEMBERS, id)
  redis.call('HDEL', TOLD, id)
  forgetLoad(id)
  members[id] = false
  resized = true
  local first, last = concernsAfter(id, 0)
  local concerned = redis.call('ZRANGEBYLEX', CONCERNS, first, last, 'LIMIT', 0, limit)
  for _, entry in ipairs(concerned) do
    local name = string.match(entry, '^[^|]*|%d+|(.*)$')
    local before = shard(name)
    if before and before.owner == id then
      takeFrom(name, before, quietMillis)
    else
      forgetConcern(id, name)
    end
    -- Also if CONCERNS_AT disagrees: the next reap must not find it again.
    redis.call('ZREM', CONCERNS, entry)
  end
  if #redis.call('ZRANGEBYLEX', CONCERNS, first, last, 'LIMIT', 0, 1) == 0 then
    redis.call('ZREM', SESSIONS, id)
  else
    redis.call('ZADD', SESSIONS, 0, id)
  end
  return #concerned
end

-- A leader whose own lease has ended decides nothing, also before another one is elected.
local function leads(id, epoch)
  return state == 'WHOLE' and leader() == id and groupNumber('epoch') == tonumber(epoch)
    and tonumber(redis.call('ZSCORE', SESSIONS, id) or '0') > nowMillis
end

