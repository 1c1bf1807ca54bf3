import type { Locator, Page } from 'playwright';

/** Opens the menu of the vault at the foot of the sidebar. */
export async function openVaultMenu(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: /^My vault/ }).click();
  const menu = page.getByRole('dialog', { name: 'My vault' });
  await menu.getByRole('radiogroup', { name: 'Theme' }).waitFor();
  return menu;
}
