import type { Locator, Page } from 'playwright';

/** Field of the palette. */
export const getPaletteField = (page: Page): Locator => page.getByRole('combobox', { name: 'Search chats or run a command' });

/** Options of the palette, all or those of one group. */
export const getPaletteOptions = (page: Page, group?: string): Locator =>
  (group === undefined ? page.getByRole('dialog', { name: 'Search and commands' }) : page.getByRole('group', { name: group })).getByRole(
    'option',
  );

/** Opens the palette by its shortcut; its field has the focus. */
export async function openPalette(page: Page): Promise<Locator> {
  await page.keyboard.press('ControlOrMeta+k');
  const field = getPaletteField(page);
  await field.waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'combobox');
  return field;
}
