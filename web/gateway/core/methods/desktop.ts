import { desktopPort } from '#shared/ports/desktop.ts';
import type { desktop } from '#shared/rpc/methods/desktop.ts';
import type { Bridge } from '../bridge.ts';
import type { Handlers } from '../dispatch.ts';

export const desktopMethods = ({ bridge }: { bridge: Bridge }): Handlers<typeof desktop> => ({
  'desktop.screenshot': (params, { signal }) => bridge.call(desktopPort, 'desktop.screenshot', params, { signal }),
  'desktop.windows': (params, { signal }) => bridge.call(desktopPort, 'desktop.windows', params, { signal }),
});
