import { desktopPort } from '#shared/ports/desktop.ts';
import { desktopPart } from '#shared/rpc/methods/desktop.ts';
import { z } from '#shared/rpc/zod.ts';
import { type Bridge, requireLent } from '../bridge.ts';
import { shown } from './office-tools.ts';
import { handOver } from './pictures.ts';
import { defineTool } from './define-tool.ts';
import type { Tool } from './registry.ts';

/** The screen of the bridge's machine. What is on it is the person's own: a person is asked first. */
export function desktopTools({ bridge }: { bridge: Pick<Bridge, 'call' | 'lends'> }): Tool[] {
  const check = (): void => requireLent(bridge, desktopPort);
  return [
    defineTool({
      name: 'desktop_screenshot',
      description:
        'Takes a picture of the screen of the machine that Perch runs on. You are shown it where you can see pictures; the person gets it with your reply.',
      source: 'bridge',
      params: z.strictObject({
        display: desktopPart.display.describe('Which display, from 1; the main one where left out'),
        windowId: desktopPart.windowId.describe('One window alone, by its id in desktop_windows'),
      }),
      effect: ({ display, windowId }) =>
        `Take a picture of ${windowId !== undefined ? `the window ${windowId}` : display !== undefined ? `display ${display}` : 'the screen'}`,
      check,
      async run(part, context) {
        const {
          screenshotB64: data,
          mimeType,
          sizeBytes: size,
          width,
          height,
        } = await bridge.call(desktopPort, 'desktop.screenshot', part, {
          signal: context.signal,
        });
        return { ...handOver(context, { data, mimeType, size, name: 'desktop' }), width, height };
      },
    }),
    defineTool({
      name: 'desktop_windows',
      description: 'Lists the displays and windows that desktop_screenshot can take.',
      source: 'bridge',
      params: z.strictObject({}),
      effect: () => 'See which windows are open on the desktop',
      check,
      run: async (_args, { signal }) => shown({ text: JSON.stringify(await bridge.call(desktopPort, 'desktop.windows', {}, { signal })) }),
    }),
  ];
}
