import { directionOf, locale } from './locale.ts';
import { apart } from './words.ts';

/**
 * The gateway and the bridge name a setting by its path, in English: here it is called as its field is. `path` is global, and finds the path and the
 * setting's name in it; `label` is undefined where no field is for it.
 */
export function byLabels(sentence: string, path: RegExp, label: (setting: string) => string | undefined): string {
  return sentence.replaceAll(path, (found: string, setting: string) => {
    const said = label(setting);
    if (said === undefined) return found;
    // The mark is for sentences that begin with the label: `dir="auto"` looks at letters that are kept apart, too.
    return directionOf(locale) === 'rtl' ? `\u200e“${apart(said)}”` : `“${said}”`;
  });
}
