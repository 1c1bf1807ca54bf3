import type { logs } from '#shared/rpc/methods/logs.ts';
import type { Handlers } from '../dispatch.ts';
import { lazy } from '../lazy.ts';
import type { TailDeps } from '../log/tail.ts';

export interface LogMethodsDeps extends TailDeps {
  timeZone(): string;
}

export function logMethods(deps: LogMethodsDeps): Handlers<typeof logs> {
  const reading = lazy(async () => {
    const [{ Tail }, render] = await Promise.all([import('../log/tail.ts'), import('../log/render.ts')]);
    return { tail: new Tail(deps), ...render };
  });
  return {
    'logs.tail': async ({ limit, json, localTime, cursor, before }, { signal }) => {
      const { tail, lineIn, textOf } = await reading();
      const { lines, ...places } = await (cursor !== undefined
        ? tail.after(cursor, limit, signal)
        : before !== undefined
          ? tail.before(before, limit, signal)
          : tail.newest(limit, 'debug', signal));
      const told = lines.map(lineIn(localTime ? deps.timeZone() : 'UTC'));
      return { lines: json ? told : told.map(textOf), count: told.length, path: tail.path ?? '', ...places };
    },

    'system.logs': async ({ lines: limit, level }, { signal }) => {
      const { tail, lineIn } = await reading();
      const { lines } = await tail.newest(limit, level === 'all' ? 'debug' : level, signal);
      const told = lines.map(lineIn('UTC'));
      return { logs: told, count: told.length };
    },
  };
}
