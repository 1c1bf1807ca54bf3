import { chosenSection } from './requirement.ts';

/** Drawings in the gateway. */
export const drawings = [
  chosenSection('decision 0053', {
    'drawings/together': 'Who has a drawing open sees what others do to it, and is not told what they did themselves.',
    'drawings/durable': 'What was acknowledged is there after the gateway was killed, whatever was under way.',
    'drawings/apart': 'Hosts that changed a drawing apart have the same one when they meet; a deleted one stays deleted.',
    'drawings/superseded': 'A change of which nothing counts any more goes with the one that outdid it; shapes removed for a day go.',
    'drawings/hostile': 'Changes that do not fit, lie in the future, or are too many are refused with the field’s name, all of the call.',
    'drawings/deleted': 'A drawing that is deleted while it is open is gone with all its changes, and who has it open is told.',
    'drawings/draft': 'A stroke is seen while it is drawn, is stored nowhere, and ends with its connection.',
    'drawings/large': 'A picture of 15 MB can be drawn, is kept by the journal and other hosts, and cuts nobody off.',
    'drawings/tools': 'An agent lists, reads and draws on drawings, seen live, and gets a picture of them.',
    'drawings/covered': 'A model is told nothing of what a redaction or blur touches, nor shown it.',
  }),
];
