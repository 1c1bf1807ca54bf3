import { formatNumber } from '../i18n/format.ts';
import { m } from '../i18n/messages.ts';
import { type CitationMark, PLACEHOLDER } from './citation-marks.ts';
import { describeCitedSource } from './describe-place.ts';

const marksByChip = new WeakMap<Element, CitationMark>();

/** The mark of the chip that an event is about; undefined if it is about none. */
export function findCitation(target: EventTarget | null): { chip: HTMLElement; mark: CitationMark } | undefined {
  const chip = target instanceof Element ? target.closest<HTMLElement>('button.cite') : null;
  const mark = chip ? marksByChip.get(chip) : undefined;
  return chip && mark ? { chip, mark } : undefined;
}

/** Replaces the placeholders in a rendered text by buttons with the numbers of their sources. */
export function renderCitationChips(root: Node, marks: readonly CitationMark[]): void {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) if (PLACEHOLDER.test(walker.currentNode.nodeValue ?? '')) texts.push(walker.currentNode as Text);
  for (const text of texts) {
    // Texts and indexes of marks in turn.
    const pieces = text.data.split(PLACEHOLDER);
    const nodes = pieces.flatMap((piece, index): Node[] => {
      if (index % 2 === 0) return [document.createTextNode(piece)];
      const mark = marks[Number(piece)];
      return mark ? [createChip(mark)] : [];
    });
    // A button cannot be in a link, and code and formulas are shown as they are.
    const frame = text.parentElement?.closest('a, code, pre, .math');
    frame?.after(...nodes.filter((node) => node instanceof Element));
    if (frame) text.data = pieces.filter((_, index) => index % 2 === 0).join('');
    else text.replaceWith(...nodes);
  }
}

function createChip(mark: CitationMark): HTMLElement {
  const number = formatNumber(mark.source.number);
  const chip = document.createElement('button');
  chip.type = 'button';
  chip.className = 'cite';
  chip.textContent = number;
  chip.ariaLabel = m.source_label({ number, source: describeCitedSource(mark.source) });
  marksByChip.set(chip, mark);
  return chip;
}
