import type { Page } from 'playwright';

/** Drops files and folders on the page, as a person does from another window. */
export async function dropFiles(page: Page, paths: readonly string[]): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const at = { x: 600, y: 300, data: { items: [], files: [...paths], dragOperationsMask: 1 } };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) await devtools.send('Input.dispatchDragEvent', { type, ...at });
  await devtools.detach();
}
