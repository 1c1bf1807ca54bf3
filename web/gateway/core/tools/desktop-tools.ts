import { desktopPort } from '#shared/ports/desktop.ts';
import { desktopPart } from '#shared/rpc/methods/desktop.ts';
import { z } from '#shared/rpc/zod.ts';
import { type Bridge, requireLent } from '../bridge.ts';
import { shown } from './office-tools.ts';
import { toSource } from '../trust/sources.ts';
import { handOver } from './pictures.ts';
import { defineTool } from './define-tool.ts';
import type { Tool } from './registry.ts';

/** Any page or document may be on the screen. */
const SCREEN = toSource('picture', 'the screen');

/** Tools for the screen of the bridge's machine. It shows personal data, so a person has to approve each call. */
export function desktopTools({ bridge }: { bridge: Pick<Bridge, 'call' | 'lends'> }): Tool[] {
  const check = (): void => requireLent(bridge, desktopPort);
  return [
    defineTool({
      name: 'desktop_screenshot',
      title: 'Take screenshot',
      summary: 'Takes a screenshot of your screen or of one window.',
      description: 'Takes a screenshot of the computer that Perch runs on, or of a window, for you and for the user.',
      source: 'bridge',
      scope: 'computer',
      params: z.strictObject({
        display: desktopPart.display.describe('Number from 1. Default: the main one'),
        windowId: desktopPart.windowId.describe('A window’s id from desktop_windows'),
      }),
      effect: ({ display, windowId }) =>
        `Take a screenshot of ${windowId !== undefined ? `the window ${windowId}` : display !== undefined ? `display ${display}` : 'the screen'}`,
      check,
      async run(part, context) {
        context.taint?.add([SCREEN]);
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
      title: 'List windows',
      summary: 'Lists your displays and open windows.',
      description: 'Lists the displays and open windows of the computer that Perch runs on.',
      source: 'bridge',
      scope: 'computer',
      params: z.strictObject({}),
      effect: () => 'See which windows are open',
      check,
      run: async (_args, { signal, taint }) => {
        taint?.add([SCREEN]);
        return shown({ text: JSON.stringify(await bridge.call(desktopPort, 'desktop.windows', {}, { signal })) });
      },
    }),
  ];
}
