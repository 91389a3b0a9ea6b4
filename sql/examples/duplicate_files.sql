-- Which files were taken in more than once, under different sources?
select encode(d.sha256, 'hex') as sha256, count(*) as copies, array_agg(d.source order by d.created_at, d.id) as sources
from rag.document as d
group by d.sha256
having count(*) > 1
order by copies desc, sha256;
