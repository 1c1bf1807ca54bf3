import type { Material } from './material.ts';

export const HEALTH: Material = {
  facts: [
    {
      kind: 'one-turn',
      slots: {
        part: ['my wrist', 'two toes', 'a rib', 'my collarbone'],
        how: ['slipping on a grape', 'chasing the bus', 'dancing at a christening', 'falling off a kerb'],
      },
      lead: ['What happened to you?', 'Why are you in plaster?'],
      said: ['I broke {part} {how}, of all the stupid ways.', 'Six weeks in plaster: {part}, and that from {how}.'],
      asked: ['Which injury did {P} have?', 'How did {P} get hurt?', 'What did {P} break?', 'Why was {P} in plaster?'],
      answer: '{part}|{how}',
      alias: ['the person with the broken bone', 'whoever had a fracture'],
    },
    {
      kind: 'one-turn',
      slots: {
        drug: ['an antihistamine called Lorano', 'iron drops', 'a blue pill for blood pressure', 'vitamin D in oil'],
        time: ['before breakfast', 'at bedtime', 'on Sundays only', 'with the evening meal'],
      },
      lead: ['What did the doctor give you?', 'Are you on anything for it?'],
      said: ['It is {drug}, {time}, for three months to begin with.', '{drug}. I swallow it {time} and try not to read the leaflet.'],
      asked: [
        'What medicine does {P} take?',
        'When during the day does {P} have to take the medication?',
        'What did the doctor give {P}?',
        'What does {P} swallow against the complaint?',
      ],
      answer: '{drug}|{time}',
    },
    {
      kind: 'one-turn',
      slots: {
        doctor: ['Dr Achebe', 'Dr Mortensen', 'a locum with cold hands', 'Professor Lamb'],
        what: ['my heart is as sound as a bell', 'it is only the thyroid', 'I need reading glasses', 'the mole has to come off'],
      },
      lead: ['What did the doctor find?', 'Are the results back?'],
      said: ['{doctor} looked at everything and says {what}.', 'Results are in. According to {doctor} {what}.'],
      asked: [
        'Which physician examined {P}?',
        "What were {P}'s test results?",
        'What does {doctor} say to {P}?',
        'What are the results for {P}?',
      ],
      answer: '{doctor}|{what}',
    },
    {
      kind: 'one-turn',
      slots: { allergy: ['hazelnuts', 'penicillin', 'wasp stings', 'latex', 'birch pollen'] },
      lead: ['What happened to your face?', 'Is there anything I should know for emergencies?'],
      said: [
        'My face swelled up like a pumpkin, turns out I react to {allergy}.',
        'Note it down for emergencies: {allergy}, that is my weak spot, I carry a pen for it.',
      ],
      asked: [
        'What is {P} allergic to?',
        'Which substance is dangerous for {P}?',
        'What does {P} react to?',
        'For what does {P} carry a pen in emergencies?',
      ],
      answer: '{allergy}',
    },
    {
      kind: 'one-turn',
      slots: {
        hours: ['four', 'five', 'nine', 'eleven'],
        cause: ['the new moon', 'the baby monitor', 'a spring in the mattress', 'the street lamp'],
      },
      lead: ['Are you sleeping better?', 'You look worn out, how are the nights?'],
      said: ['I get {hours} hours a night, and I blame {cause}.', 'My watch says {hours} hours on average. It must be {cause}.'],
      asked: [
        'How much does {P} sleep?',
        'What does {P} blame for the amount of sleep?',
        'How many hours a night does {P} get?',
        "What does {P}'s watch say about hours of sleep?",
      ],
      answer: '{hours}|{cause}',
    },
    {
      kind: 'time',
      slots: { op: ['the knee', 'my wisdom teeth', 'a hernia', 'my cataract'] },
      lead: ['Are you out of hospital?', 'How did the operation go?'],
      said: [
        'They operated on {op} {when}; I remember only the ceiling lights.',
        '{when} I went under the knife because of {op}, all went well.',
      ],
      asked: [
        'When did {P} have surgery?',
        'On what date was {P} in hospital?',
        'When was {P} operated on?',
        'When did {P} go under the knife?',
      ],
    },
    {
      kind: 'time',
      slots: { dist: ['ten kilometres', 'the half marathon', 'the lake swim', 'the stair race'] },
      lead: ['Did you make it to the finish?', 'How was the race?'],
      said: [
        'I did it! {dist}, {when}, and I was not even the last.',
        '{when} I crossed the line of {dist} holding hands with a man dressed as a carrot.',
      ],
      asked: [
        'When did {P} take part in a race?',
        'In what month did {P} compete?',
        'When did {P} do {dist}?',
        'When did {P} cross the line?',
      ],
    },
    {
      kind: 'time',
      lead: ['Are you still smoking?', 'Where are your cigarettes?'],
      said: [
        'My last cigarette was {when}. I keep it in a frame.',
        '{when} I threw the whole packet into the river and I have not smoked since.',
      ],
      asked: [
        'When did {P} stop smoking?',
        'Since when has {P} been without nicotine?',
        "When was {P}'s last cigarette?",
        'When did {P} throw the packet away?',
      ],
    },
    {
      kind: 'preferences',
      slots: { sport: ['swimming before sunrise', 'rowing on my own', 'yoga in the park', 'table tennis with pensioners'] },
      lead: ['What do you do for fitness?', 'Have you joined the gym?'],
      said: ['Of everything I have tried, {sport} is what makes me happy.', 'I tried the gym. No. It is {sport} for me.'],
      asked: [
        'What kind of exercise does {P} enjoy most?',
        'How does {P} prefer to keep fit?',
        'Which sport makes {P} happy?',
        'What did {P} find better than the gym?',
      ],
      answer: '{sport}',
    },
    {
      kind: 'preferences',
      slots: { cure: ['onion syrup', 'a day under three blankets', 'chicken broth with star anise', 'a very hot bath'] },
      lead: ['What helps you with a cold?', 'Do you take anything from the chemist?'],
      said: ['With a cold I trust {cure} and nothing from the chemist.', 'My grandmother knew: {cure}, and you are well by morning.'],
      asked: [
        'Which remedy does {P} swear by?',
        'What does {P} do against a cold?',
        'What does {P} trust with a cold?',
        "What is the remedy of {P}'s grandmother?",
      ],
      answer: '{cure}',
    },
    {
      kind: 'negation',
      slots: { thing: ['sugar', 'alcohol', 'meat', 'wheat'] },
      lead: ['Would you like some of this?', 'What did you change in your diet?'],
      said: [
        'I have been off {thing} and I feel ten years younger, and ten times more boring.',
        'No {thing} for me, thank you. Doctor and conscience agree for once.',
      ],
      asked: [
        'What does {P} abstain from?',
        'What has {P} cut out of the diet?',
        'What has {P} been off?',
        'What is not for {P}, by doctor and conscience?',
      ],
      answer: '{thing}',
    },
    {
      kind: 'negation',
      slots: { exam: ['the blood test', 'the eye test', 'the vaccination', 'the hearing test'] },
      lead: ['Did you go and have it checked?', 'Does your mother know how you are?'],
      said: ['I never went to {exam}. I had a slot and I walked past the door.', 'Do not tell my mother that I skipped {exam}.'],
      asked: [
        'Which appointment did {P} not keep?',
        'What medical check did {P} avoid?',
        'Where did {P} have a slot and walk past the door?',
        'What did {P} skip?',
      ],
      answer: '{exam}',
    },
    {
      kind: 'open',
      lead: ['How was the blood test?', 'Was the syringe that bad?'],
      said: [
        'They wanted to draw one tube of blood and I woke up on the floor.',
        'I looked away, I hummed, and I still fainted when the syringe came out.',
      ],
      asked: [
        'Would {P} be comfortable donating blood?',
        'How does {P} react to needles?',
        "What happened when they wanted {P}'s blood?",
        'What did {P} do when the syringe came out?',
      ],
    },
    {
      kind: 'open',
      lead: ['What is in that small bag?', 'Is the cough serious?'],
      said: [
        'I carry three kinds of plasters, drops, a splint, and charcoal, in the small bag.',
        'I looked up my cough on the internet and wrote a farewell letter.',
      ],
      asked: [
        'Does {P} worry a lot about health?',
        'Might {P} be a bit of a hypochondriac?',
        'What does {P} carry in the small bag?',
        'What did {P} do about the cough?',
      ],
    },
  ],
  collections: [
    {
      asked: [
        'What sports has {P} tried?',
        'Which kinds of exercise has {P} done?',
        'How many types of sport did {P} take up?',
        'What does {P} do to keep fit?',
      ],
      lead: ['Are you doing any sport?', 'How is the training?'],
      items: [
        ['I fell off the climbing wall in front of a birthday party.', 'climbing'],
        ['Badminton at eight in the morning should be a punishable offence.', 'badminton'],
        ['Forty lengths in the pool and I smell of chlorine for days.', 'pool'],
        ['They let me sit in a kayak. I am better upside down in it.', 'kayak'],
        ['My first fencing lesson: I was stabbed by a pensioner.', 'fencing'],
        ['Skating again after twenty years, my shins remember it well.', 'skating'],
        ['Pilates looked like lying down. It is not lying down.', 'pilates'],
        ['I have joined the running group of the fire station.', 'running'],
        ['Boxing with mitts, forty minutes, I could not lift a fork after.', 'boxing'],
        ['We did archery on the meadow and I hit the neighbour’s hay bale.', 'archery'],
      ],
    },
    {
      asked: [
        'Which complaints or illnesses has {P} had?',
        'What health problems did {P} mention?',
        'How many ailments did {P} suffer from?',
        'What was {P} ill with?',
      ],
      lead: ['Are you feeling better?', 'What is wrong with you, are you ill?'],
      items: [
        ['A migraine like a marching band, two days in the dark.', 'migraine'],
        ['My back locked while I was tying a shoe.', 'back'],
        ['I have shingles, at my age, and it burns like nettles.', 'shingles'],
        ['Tonsils like golf balls, I whisper like a villain.', 'tonsils'],
        ['The tennis elbow is back, and I have not played since school.', 'elbow'],
        ['Bronchitis, says the stethoscope. Bark, says the dog.', 'bronchitis'],
        ['My ear has been ringing since the concert.', 'ear'],
        ['I ate one oyster and saw God, then the bathroom tiles.', 'oyster'],
        ['There is a stone in my kidney, the size of a lentil and the mood of a boulder.', 'kidney'],
        ['My skin is peeling off in sheets, the eczema loves winter.', 'eczema'],
      ],
    },
  ],
  changes: [
    {
      values: ['Dr Nwosu', 'Dr Farrell', 'Dr Kovacs', 'the practice by the bridge', 'Dr Yamamoto'],
      before: ['My dentist is {old}, gentle hands, awful radio.', 'For my teeth I go to {old}, have done for years.'],
      after: ['I changed dentists, {new} has a better drill and no radio.', 'From now on my teeth belong to {new}, the other one retired.'],
      asked: ["Who is {P}'s dentist now?", 'Where does {P} currently go with toothache?'],
    },
    {
      values: ['twice a week', 'every morning', 'on Sundays', 'four times a week', 'once a month'],
      before: ['I work out {old} and feel smug about it.', 'My routine is exercise {old}, rain or shine.'],
      after: ['The physio put me on a new rhythm, so I work out {new} now.', 'I changed my routine, exercise is {new} from here on.'],
      asked: ['How often does {P} exercise these days?', 'What is the present training rhythm of {P}?'],
    },
  ],
  contradictions: [
    {
      first: ['I do not believe in supplements, it is all expensive urine.', 'Breakfast is for the weak, I have never eaten before noon.'],
      second: ['I take magnesium, zinc and fish oil now and I swear that they help.', 'Porridge at seven has changed my life.'],
      asked: ['What does {P} think about supplements or breakfast?', 'Has {P} been consistent about eating in the morning or about pills?'],
    },
    {
      first: ['I feel great, I have not been so fit in years.', 'The knee is fine, forget the knee.'],
      second: [
        'To be honest, I have been exhausted for months and did not want to say it.',
        'I limp. It has hurt since spring, I only pretended.',
      ],
      asked: ['How is {P} really doing, by all that was said?', "Do {P}'s statements about fitness and the knee agree?"],
    },
  ],
  chatter: [
    'I should sleep more, everyone says so.',
    'Health is the main thing, as my uncle says.',
    'The doctor’s waiting room had magazines from last century.',
    'I want to exercise, and then the sofa speaks.',
    'Take care of yourself, will you?',
    'Winter is one long cold.',
    'Do you also get tired at three?',
    'I read that walking is the new running.',
    'My body is a temple, a ruined one.',
    'Drink more water, says my telephone.',
  ],
};
