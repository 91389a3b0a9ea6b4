-- Is the right source among the first three passages, for each question of a list? (Words only; join your own table of
-- questions with their embeddings to try both legs, and change the weights to compare.)
with question (text, wanted) as (
    values
        ('差旅 报销 期限', '财务/报销制度.pdf'),
        ('合同 保管', '法务/合同管理.md'),
        ('不存在的词', '财务/报销制度.pdf')
)
select q.text, q.wanted, min(h.parent_rank) as found_at, min(h.parent_rank) is not null as hit
from question as q
left join lateral (
    select f.parent_rank
    from rag.hybrid_search(q.text, null, top_n => 3) as f
    join rag.parent_chunks_overview as p on p.parent_id = f.parent_id
    where p.source = q.wanted
) as h on true
group by q.text, q.wanted
order by q.text;
