import type { Page } from 'playwright';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { BrowserInput } from '#shared/rpc/methods/browser-view-contracts.ts';
import type { DrivenBrowser } from './driven-browser.ts';
import { withTimeout, toRpcError } from './playwright-errors.ts';

/** Performs a user's mouse or keyboard action in a tab. */
export async function dispatchInput(browser: DrivenBrowser, input: BrowserInput, signal: AbortSignal): Promise<void> {
  const page = input.tabId === undefined ? await browser.page() : browser.tab(input.tabId);
  try {
    await withTimeout(performInput(page, input), { signal });
  } catch (error) {
    if (error instanceof Error && /Unknown key/.test(error.message))
      throw new RpcError('INVALID_PARAMS', 'key: unknown key', {}, { cause: error });
    throw toRpcError(error, 'Couldn’t send input to the page');
  }
}

/** The contract ensures that the fields of each input type are set. */
async function performInput({ mouse, keyboard }: Page, { type, x = 0, y = 0, ...input }: BrowserInput): Promise<void> {
  const { button = 'left', count: clickCount = 1 } = input;
  switch (type) {
    case 'click':
      return mouse.click(x, y, { button, clickCount });
    case 'press':
      await mouse.move(x, y);
      return mouse.down({ button, clickCount });
    case 'release':
      await mouse.move(x, y);
      return mouse.up({ button, clickCount });
    case 'move':
      return mouse.move(x, y);
    case 'wheel':
      await mouse.move(x, y);
      return mouse.wheel(input.deltaX ?? 0, input.deltaY ?? 0);
    case 'key':
      return keyboard.press(input.key ?? '');
    case 'text':
      return keyboard.insertText(input.text ?? '');
  }
}
