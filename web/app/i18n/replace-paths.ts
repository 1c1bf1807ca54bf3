import { getDirection, locale } from './locale.ts';
import { isolate } from './isolate.ts';

/**
 * Replaces setting paths in English messages of the gateway and the bridge by the labels of their fields. `path` is a global pattern that
 * captures the path and the setting's name; `getLabel` returns undefined for a setting without a field.
 */
export function replacePathsByLabels(sentence: string, path: RegExp, getLabel: (setting: string) => string | undefined): string {
  return sentence.replaceAll(path, (match: string, setting: string) => {
    const label = getLabel(setting);
    if (label === undefined) return match;
    // The mark sets the direction of sentences that begin with the label, as `dir="auto"` considers isolated letters too.
    return getDirection(locale) === 'rtl' ? `\u200e“${isolate(label)}”` : `“${label}”`;
  });
}
