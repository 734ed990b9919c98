-- Moves dead letters into the retry queue, due now, as records that were never tried.
--
-- ARGV     ids of dead letters
-- result   number of letters that were moved; -1, and none is moved, if the shard is completed; an error, and none is
--          moved, if memory or a right is missing
-- keeps    a letter is in one place; a record that is in the retry queue already is there once, due now
-- memory   refused at `maxmemory`: a stream frees the memory of letters only once a whole node of it is empty
-- cost     O(letters * log of the retry queue), and their payloads are copied: the caller sends about 1 MB at once

if redis.call('HEXISTS', CHECKPOINT, 'completed') == 1 then
  return -1
end
local moved = 0
local before = countEntries()
local recorded = recordedSizes(redis.call('HGET', CHECKPOINT, 'sizes'), before)
for _, id in ipairs(ARGV) do
  local entry = redis.call('XRANGE', DEAD, id, id)[1]
  local letter = {offset = '', about = '', payload = ''}
  for i = 1, entry and #entry[2] or 0, 2 do
    letter[entry[2][i]] = entry[2][i + 1]
  end
  -- An entry without an offset is no dead letter, and stays.
  if letter.offset ~= '' then
    local about = string.gsub(letter.about, '^{"attempts":%d+', '{"attempts":0', 1)
    -- A missing right shows only when a command is called: first call them in a way that changes nothing.
    local tried = redis.pcall('ZADD', RETRY, 'XX', 0, '')
    if lacksMemory(tried) then
      return redis.error_reply('OOM Redis has reached maxmemory, so the dead letters in ' .. DEAD ..
        ' stay where they are; raise maxmemory or free memory, and send them back again')
    end
    if type(tried) == 'table' then
      -- Any other error is raised here.
      redis.call('ZADD', RETRY, 'XX', 0, '')
    end
    redis.call('XDEL', DEAD, '0-0')
    redis.call('HSET', RETRIED, letter.offset, about .. '\n' .. letter.payload)
    redis.call('ZADD', RETRY, text(nowMillis), letter.offset)
    redis.call('XDEL', DEAD, id)
    moved = moved + 1
  end
end
recordSizes(recorded, before)
return moved
