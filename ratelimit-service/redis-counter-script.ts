import { script } from '#redis/script.ts';

/**
 * Counts in KEYS. ARGV has two values for each key: the window's length in ms and what to add,
 * where 0 only reads. Returns the server's time in ms since the epoch, then the counts. The
 * server's clock decides the window, and a key ends with its window. Counts saturate at 2^53-1.
 *
 * Redis decides which keys have expired by a time taken before the script's own TIME. So in the
 * first moments of a window the script may still see a key of the window before. Such a key has
 * almost no time left, while a key of this window has almost all of it.
 *
 * A key that was made before the clock was set back, or at a master whose clock was ahead, would
 * count on until the clock is there again. A limit by the second could so close for hours. Half a
 * window is the tolerance, since the two times differ where the server waits for its processor.
 *
 * Redis keeps what a script did before an error. So a counter that gets no end, because a user has
 * no right to PEXPIREAT, goes at once.
 */
export const COUNT_HITS = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local reply = { now }
for i, key in ipairs(KEYS) do
  local window = tonumber(ARGV[2 * i - 1])
  local add = ARGV[2 * i]
  local age = now % window
  local left = redis.call('PTTL', key)
  local before = age < 100 and left >= 0 and left < window / 2
  if before or left == -1 or left > window * 1.5 then redis.call('DEL', key) end
  local count
  if add == '0' then
    count = tonumber(redis.call('GET', key) or 0)
  else
    count = redis.call('INCRBY', key, add)
    local saturated = count > 9007199254740991
    if saturated then
      count = 9007199254740991
      redis.call('SET', key, '9007199254740991')
    end
    if saturated or count == tonumber(add) then
      local ended = redis.pcall('PEXPIREAT', key, now - age + window)
      if type(ended) == 'table' then
        redis.call('DEL', key)
        return ended
      end
    end
  end
  reply[i + 1] = count
end
return reply
`);
