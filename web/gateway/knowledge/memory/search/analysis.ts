import { computeContentId } from '../content-id.ts';
import { splitWords } from '../../search/text/analyze.ts';
import { irregular } from '../../search/text/irregular.ts';
import { LANGUAGES } from '../../search/text/languages.ts';
import { ALIKE, KINDS, PHRASES } from '../../search/text/related-words.ts';

/** Increment this when a change affects the terms, times, marks or columns of a text. A test compares the output for many texts. */
const ANALYSIS_VERSION = 2;

/** Sample of platform-dependent behaviour: the segmenter and Unicode tables differ between versions. */
const SAMPLE =
  'ＡＢＣ İstanbul Straße 今日は京都タワーへ行きました。我喜欢喝绿茶，他在北京大学读书。ผมชอบภาษาไทยมาก កុមារ မြန်မာ 한국어를 🙂 x² 1½';

let cached: string | undefined;

/** Version of the text analysis. Terms of different versions must not be mixed in one index. */
export function getAnalysisVersion(): string {
  return (cached ??= `${ANALYSIS_VERSION}-${computeContentId([...listIngredients()].join('\n'))}`);
}

function* listIngredients(): Generator<string> {
  yield ALIKE;
  yield KINDS;
  yield PHRASES;
  for (const [form, base] of irregular) yield `${form} ${base}`;
  for (const { name, stopWords } of LANGUAGES) yield `${name} ${[...stopWords].join(' ')}`;
  for (const { folded, paired, name } of splitWords(SAMPLE)) yield `${folded} ${paired} ${name}`;
}
