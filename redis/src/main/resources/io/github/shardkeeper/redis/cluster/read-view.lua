-- Reads the group's view. The first to read it after members came or went gives it a number, frees what the gone ones
-- held, and tells the others.
--
-- KEYS     7 :cluster  hash  view (its number), members (those in it, with commas), stamp (history and membership
--          version that it was made of), signals (number of the last one), parameters (version of the last change)
--          8 :signals and 9 :signalAcks, see signals.lua; 10, 11, 12 see barriers.lua
-- ARGV     1 session of the reader, 2 number of the view that it knows, 3 its address
-- result   {'UNKNOWN'} without a session; else {'KNOWN', number of the view, number of the last signal, version of the
--          last change of a parameter, '1' if somebody has subscribed at its address or '0', '1' if the members follow
--          or '0', '1' if what the gone ones held is freed or '0', then per member: id, record as in :members}
-- keeps    the number changes only if the members that are not leaving have changed, and never repeats
--          what cannot be freed now is retried by the next read
-- cost     O(1) if the members have not changed, else O(members + locks + those that wait + parties of all
--          barriers + signals that members have handled)

local CLUSTER = KEYS[7]
local self, seen, address = ARGV[1], ARGV[2], ARGV[3]
if not isMember(self) then
  return {'UNKNOWN'}
end
writeAtMaxmemory('HDEL', CLUSTER)
local versions = redis.call('HMGET', GROUP, 'history', 'membership')
local stamp = tostring(versions[1]) .. '|' .. tostring(versions[2])
local known = redis.call('HMGET', CLUSTER, 'view', 'members', 'stamp', 'signals', 'parameters')
-- A view has the number 0 only before the first one is read.
local number = text(wholeNumber(known[1]) or 0)
local subscribers = redis.call('PUBSUB', 'NUMSUB', base .. ':cluster:' .. address)
local reply = {'KNOWN', number, text(wholeNumber(known[4]) or 0), text(wholeNumber(known[5]) or 0),
  subscribers[2] > 0 and '1' or '0', '0', '1'}
local changed = known[3] ~= stamp or number == '0'
if not changed and number == seen then
  return reply
end

local allFreed = true

-- Frees what the gone ones held in one of the tools, whatever is wrong with the others. What is wrong is lost here, as
-- Redis 7 does not tell it with its line: explain-failed-freeing.lua shows it.
local function attempt(free, ...)
  allFreed = pcall(free, ...) and allFreed
end

local members, ids = {}, {}
local entries = redis.call('HGETALL', MEMBERS)
for i = 1, #entries, 2 do
  if string.sub(entries[i + 1], 1, 2) == 'A|' then
    ids[#ids + 1] = entries[i]
    members[entries[i]] = bounded(entries[i + 1], 4000000)
  end
end
table.sort(ids)
-- Also without a new stamp: the key may have lost a member, or be older than the stamp.
local all = table.concat(ids, ',')
if changed or all ~= known[2] then
  if all ~= known[2] or number == '0' then
    number = text(math.max(tonumber(number) + 1, nowMicros))
    tellAll('view|' .. number)
  end
  redis.call('HSET', CLUSTER, 'view', number, 'members', all)
  attempt(freeLocksOfGoneMembers)
  attempt(freeBarriersOfGoneMembers, number)
  attempt(forgetSignals, KEYS[8], KEYS[9])
  if allFreed then
    redis.call('HSET', CLUSTER, 'stamp', stamp)
  end
end
reply[2] = number
reply[7] = allFreed and '1' or '0'
if number ~= seen then
  reply[6] = '1'
  for _, id in ipairs(ids) do
    reply[#reply + 1] = id
    reply[#reply + 1] = members[id]
  end
end
return reply
