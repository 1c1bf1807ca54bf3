import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the licences of the packages that the modules belong to, for distribution with copies. Throws an Error for a package without a
 * licence.
 */
export function collectNotices(modules: Iterable<string>): string {
  const folders = new Set<string>();
  for (const module of modules) {
    const [folder] = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(module) ?? [];
    if (folder !== undefined) folders.add(folder);
  }
  return [...folders].sort().map(readNotice).join('\n\n');
}

function readNotice(folder: string): string {
  const name = folder.replaceAll('\\', '/').split('/node_modules/').at(-1) ?? folder;
  const file = readdirSync(folder).find((each) => /^licen[cs]e(\.\w+)?$/i.test(each));
  if (file === undefined) throw new Error(`${name} has no licence`);
  return `# ${name}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}
