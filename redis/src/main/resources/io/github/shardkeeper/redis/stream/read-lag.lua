-- Reads how many entries of a stream are after an offset, and how old the first of them is.
--
-- KEYS     1 the stream, which need not exist
-- ARGV     1 the offset, a complete entry id
-- result   number of entries after the offset, '' if neither those before nor those after it can be counted within the
--          limits below; age of the first of them (millis of Redis' time), '' for none
-- memory   needs none; no entry is returned
-- cost     O(1) if all entries or none are after the offset; else as much as the limits allow, about a millisecond

local STREAM, offset = KEYS[1], ARGV[1]
local MOST_ENTRIES, MOST_BYTES = 1000, 250000

local following = redis.call('XRANGE', STREAM, '(' .. offset, '+', 'COUNT', 1)[1]
if not following then
  return {'0', ''}
end

local function after(count, from)
  return redis.call('XRANGE', STREAM, from, '+', 'COUNT', count)
end

local function before(count, from)
  return redis.call('XREVRANGE', STREAM, from, '-', 'COUNT', count)
end

-- Counts entries in one direction, and returns nothing if there are too many. Entries are read in order to be counted;
-- so the first page has one, and later ones as many of that size as the limit leaves.
local function number(read, start)
  local counted, bytes, page = 0, 0, 1
  while counted < MOST_ENTRIES and bytes < MOST_BYTES do
    local entries = read(page, start)
    for _, entry in ipairs(entries) do
      for _, text in ipairs(entry[2]) do
        bytes = bytes + #text
      end
    end
    counted = counted + #entries
    if #entries < page then
      return counted
    end
    start = '(' .. entries[#entries][1]
    page = math.max(1, math.min(MOST_ENTRIES - counted, 100, math.floor((MOST_BYTES - bytes) * counted / bytes)))
  end
  return nil
end

local length = redis.call('XLEN', STREAM)
local first = redis.call('XRANGE', STREAM, '-', '+', 'COUNT', 1)[1]
local records
if first[1] == following[1] then
  records = length
else
  records = number(after, '(' .. offset)
  local handled = not records and number(before, offset)
  if handled then
    records = length - handled
  end
end

local time = redis.call('TIME')
local nowMillis = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local age = math.max(0, nowMillis - tonumber(string.match(following[1], '^%d+')))
return {records and tostring(records) or '', string.format('%.0f', age)}
