-- Stores the settings of an instance, unless one that runs has others that would divide the data. Not among the group's
-- keys of control.lua: instances that consume broadcast topics only are no members.
--
-- KEYS     1 the settings of the instances that run: hash of instance → end of its lease (millis)|lease (millis)|digest,
--          and of # and digest → settings
-- ARGV     1 instance, 2 lease (millis), 3 its settings, a line each: ! if a difference divides the data, otherwise -,
--          then name, tab and value
-- result   {'OK' or 'REFUSED', then of each other text of settings: text, number of instances, up to 3 of their names
--          with spaces between them}; {'OK'} alone if only the lease was renewed; {'TOOMANY', number of entries}, far more
--          than instances write, when nothing was compared
-- keeps    of two instances in it that run, none has another value of a setting that divides the data; no lease ends
--          later than its length from now, also after the clock was set back
-- memory   accepted at `maxmemory`: an entry per instance, and a text per version of the settings
-- cost     O(1) to renew, otherwise O(instances)

local MOST_ENTRIES = 20000
local MOST_BYTES = 100000
local MOST_NAMES = 3

writeAtMaxmemory('HDEL', KEYS[1])

local time = redis.call('TIME')
local nowMillis = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local digest = redis.sha1hex(ARGV[3])

-- Returns nothing for what others have written.
local function read(entry)
  local untilMillis, lease, theirs = string.match(entry, '^(%d+)|(%d+)|(%x+)$')
  return tonumber(untilMillis), tonumber(lease), theirs
end

local function write(name, lease, theirs)
  local entry = string.format('%.0f|%.0f|%s', nowMillis + lease, lease, theirs)
  redis.call('HSET', KEYS[1], name, entry)
end

local untilMillis, _, before = read(redis.call('HGET', KEYS[1], ARGV[1]) or '')
if before == digest and untilMillis > nowMillis and redis.call('HEXISTS', KEYS[1], '#' .. digest) == 1 then
  write(ARGV[1], tonumber(ARGV[2]), digest)
  return {'OK'}
end

local number = redis.call('HLEN', KEYS[1])
if number > MOST_ENTRIES then
  return {'TOOMANY', number}
end

local texts, names, counts = {}, {}, {}
local entries = redis.call('HGETALL', KEYS[1])
for i = 1, #entries, 2 do
  local name, value = entries[i], entries[i + 1]
  if string.sub(name, 1, 1) == '#' then
    texts[string.sub(name, 2)] = value
  elseif name ~= ARGV[1] then
    local till, lease, theirs = read(value)
    if till and till <= nowMillis then
      redis.call('HDEL', KEYS[1], name)
    elseif till then
      if till > nowMillis + lease then
        write(name, lease, theirs)
      end
      counts[theirs] = (counts[theirs] or 0) + 1
      if counts[theirs] <= MOST_NAMES then
        names[theirs] = (names[theirs] and names[theirs] .. ' ' or '') .. name
      end
    end
  end
end

local function dividing(text)
  local values = {}
  for name, value in string.gmatch(text, '!([^\t\n]+)\t([^\n]*)') do
    values[name] = value
  end
  return values
end

local own = dividing(ARGV[3])
local outcome = 'OK'
local others = {}
for theirs, text in pairs(texts) do
  if theirs ~= digest and not counts[theirs] then
    redis.call('HDEL', KEYS[1], '#' .. theirs)
  elseif theirs ~= digest and #text <= MOST_BYTES then
    for name, value in pairs(dividing(text)) do
      if own[name] and own[name] ~= value then
        outcome = 'REFUSED'
      end
    end
    table.insert(others, text)
    table.insert(others, counts[theirs])
    table.insert(others, names[theirs])
  end
end
if outcome == 'OK' then
  redis.call('HSET', KEYS[1], '#' .. digest, ARGV[3])
  write(ARGV[1], tonumber(ARGV[2]), digest)
end
return {outcome, unpack(others)}
