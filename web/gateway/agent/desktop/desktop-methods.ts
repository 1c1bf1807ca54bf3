import { desktopPort } from '#shared/ports/desktop-port.ts';
import { desktopContracts } from '#shared/rpc/methods/desktop-contracts.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import { defineMethods } from '../../system/methods.ts';

export const desktopMethods = defineMethods(desktopContracts)(({ bridge }: { bridge: Bridge }) => ({
  'desktop.screenshot': (params, { signal }) => bridge.call(desktopPort, 'desktop.screenshot', params, { signal }),
  'desktop.windows': (params, { signal }) => bridge.call(desktopPort, 'desktop.windows', params, { signal }),
}));
