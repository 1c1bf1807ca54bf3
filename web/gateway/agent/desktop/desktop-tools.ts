import { desktopPort } from '#shared/ports/desktop-port.ts';
import { captureArea } from '#shared/rpc/methods/desktop-contracts.ts';
import { z } from '#shared/rpc/zod.ts';
import { type Bridge, requireCapability } from '../../ports/bridge-interface.ts';
import { toUntrustedText } from '../tools/office-tools.ts';
import { toSource } from '../trust/content-sources.ts';
import { sendPicture } from '../tools/send-picture.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Tool } from '../tools/tool-registry.ts';

/** Any page or document may be on the screen. */
const SCREEN_SOURCE = toSource('picture', 'the screen');

/** Tools for the screen of the bridge's machine. It shows personal data, so a person has to approve each call. */
export function desktopTools({ bridge }: { bridge: Pick<Bridge, 'call' | 'provides'> }): Tool[] {
  const check = (): void => requireCapability(bridge, desktopPort);
  return [
    defineTool({
      name: 'desktop_screenshot',
      title: 'Take screenshot',
      summary: 'Takes a screenshot of your screen or of one window.',
      description: 'Takes a screenshot of the computer that Perch runs on, or of a window, for you and for the user.',
      source: 'bridge',
      scope: 'computer',
      params: z.strictObject({
        display: captureArea.display.describe('Number from 1. Default: the main one'),
        windowId: captureArea.windowId.describe('A window’s id from desktop_windows'),
      }),
      effect: ({ display, windowId }) =>
        `Take a screenshot of ${windowId !== undefined ? `the window ${windowId}` : display !== undefined ? `display ${display}` : 'the screen'}`,
      check,
      async run(part, context) {
        context.taint?.add([SCREEN_SOURCE]);
        const {
          screenshotB64: data,
          mimeType,
          sizeBytes: size,
          width,
          height,
        } = await bridge.call(desktopPort, 'desktop.screenshot', part, {
          signal: context.signal,
        });
        return { ...sendPicture(context, { data, mimeType, size, name: 'desktop' }), width, height };
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
        taint?.add([SCREEN_SOURCE]);
        return toUntrustedText({ text: JSON.stringify(await bridge.call(desktopPort, 'desktop.windows', {}, { signal })) });
      },
    }),
  ];
}
