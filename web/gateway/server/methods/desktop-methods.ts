import { desktopPort } from '#shared/ports/desktop-port.ts';
import type { desktopContracts } from '#shared/rpc/methods/desktop-contracts.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Handlers } from '../dispatch.ts';

export const desktopMethods = ({ bridge }: { bridge: Bridge }): Handlers<typeof desktopContracts> => ({
  'desktop.screenshot': (params, { signal }) => bridge.call(desktopPort, 'desktop.screenshot', params, { signal }),
  'desktop.windows': (params, { signal }) => bridge.call(desktopPort, 'desktop.windows', params, { signal }),
});
