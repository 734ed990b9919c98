-- Removes the oldest dead letters that are too old or too many.
--
-- ARGV     1 maximum time since a letter was stored (millis of Redis' time), or '' for no limit, 2 most letters to keep,
--          or '' for no limit, 3 about how many to remove at once
-- result   number of removed letters; 0 if there is nothing more to remove
-- keeps    every letter that is neither too old nor one too many
-- memory   needs none
-- cost     O(letters removed): about ARGV[3], or the rest of one node of the stream

local age, most, limit = ARGV[1], ARGV[2], ARGV[3]

-- Only whole nodes can be removed up to a number of entries. What remains then is in one node.
local function trim(strategy, threshold)
  local gone = redis.call('XTRIM', DEAD, strategy, '~', threshold, 'LIMIT', limit)
  if gone == 0 then
    gone = redis.call('XTRIM', DEAD, strategy, threshold)
  end
  return gone
end

local gone = 0
if most ~= '' then
  gone = trim('MAXLEN', most)
end
if age ~= '' and gone == 0 then
  local oldest = nowMillis - tonumber(age)
  if oldest > 0 then
    gone = trim('MINID', text(oldest))
  end
end
return gone
