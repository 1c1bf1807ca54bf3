import { logContracts } from '#shared/rpc/methods/log-contracts.ts';
import { defineMethods } from '../methods.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { LogTailDeps } from './log-tail.ts';

interface LogMethodsDeps extends LogTailDeps {
  timeZone(): string;
}

export const logMethods = defineMethods(logContracts)((deps: LogMethodsDeps) => {
  const loadTail = lazy(async () => {
    const [{ LogTail }, render] = await Promise.all([import('./log-tail.ts'), import('./log-line.ts')]);
    return { tail: new LogTail(deps), ...render };
  });
  return {
    'logs.tail': async ({ limit, json, localTime, cursor, before }, { signal }) => {
      const { tail, createLineFormatter, formatLogLine } = await loadTail();
      const { lines, ...places } = await (cursor !== undefined
        ? tail.after(cursor, limit, signal)
        : before !== undefined
          ? tail.before(before, limit, signal)
          : tail.newest(limit, 'debug', signal));
      const entries = lines.map(createLineFormatter(localTime ? deps.timeZone() : 'UTC'));
      return { lines: json ? entries : entries.map(formatLogLine), count: entries.length, path: tail.path ?? '', ...places };
    },

    'system.logs': async ({ lines: limit, level }, { signal }) => {
      const { tail, createLineFormatter } = await loadTail();
      const { lines } = await tail.newest(limit, level === 'all' ? 'debug' : level, signal);
      const entries = lines.map(createLineFormatter('UTC'));
      return { logs: entries, count: entries.length };
    },
  };
});
