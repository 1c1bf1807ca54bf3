import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright';

const script = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Axe {
  run(
    context: unknown,
    options: unknown,
  ): Promise<{ violations: { id: string; help: string; nodes: { target: unknown[]; failureSummary?: string }[] }[] }>;
}

/**
 * Violations that axe finds on the page, WCAG 2.2 A and AA and best practices; `rules`: more of axe's rules. Frames of other origins are
 * not examined.
 */
export async function runAxe(page: Page, rules: readonly string[] = []): Promise<string[]> {
  await page.evaluate(await script);
  return page.evaluate(async (more) => {
    const { violations } = await (window as unknown as { axe: Axe }).axe.run(document, {
      iframes: false,
      rules: Object.fromEntries(more.map((rule) => [rule, { enabled: true }])),
    });
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
  }, rules);
}
